#include "base/processor.h"

#include <unistd.h>

namespace heed {

void require_processor(int, char**, char**) {
#ifdef HEED_NEEDS_V3
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    return;
  static constexpr char kMessage[] =
      "heed: error: this build is for x86-64-v3 (AVX2 and FMA: Intel's processors since 2013, "
      "AMD's "
      "since 2015), and this processor is older.\n"
      "  try: a build for it: cmake -S . -B build -DHEED_NATIVE=ON && cmake --build build\n";
  (void)!::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  ::_exit(2);
#endif
}

}  // namespace heed
