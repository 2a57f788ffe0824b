// Whether this processor can run the program, asked before anything else runs. The only file that
// is built for every x86-64, so it calls nothing that another file may have compiled too.
#include <unistd.h>

namespace heed {

// A sentence and exit code 2 on a processor without AVX2, FMA and BMI2, if the build needs them.
void require_processor(int, char**, char**) {
#ifdef HEED_NEEDS_V3
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    return;
  static constexpr char kMessage[] =
      "heed: error: this build is for processors with AVX2 (Intel's since 2013, AMD's since "
      "2015).\n"
      "  try: cmake -S . -B build -DHEED_NATIVE=ON && cmake --build build\n";
  (void)!::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  ::_exit(2);
#endif
}

}  // namespace heed
