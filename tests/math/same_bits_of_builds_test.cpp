// Builds of the kernels for several CPUs (kernel_bits.cpp; tests/CMakeLists.txt says which) compute
// the same bits: neither the width of vectors nor what a compiler thinks is fast for a CPU decides.
// (scripts/dev/arm64.sh compares arm64's.)
#ifdef __x86_64__
#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>
#include <string>

namespace heed {
namespace {

std::string output_of(const std::string& program) {
  std::string text;
  FILE* pipe = ::popen(("'" + program + "'").c_str(), "r");
  if (pipe == nullptr) return text;
  char part[4096];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
  EXPECT_EQ(::pclose(pipe), 0) << program;
  return text;
}

TEST(SameBitsOfBuilds, EveryKernel) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    GTEST_SKIP() << "a CPU without AVX2 and FMA";
  std::istringstream programs(HEED_KERNEL_BITS);  // separated by |
  std::string first, program;
  while (std::getline(programs, program, '|')) {
    if (program.ends_with("v4") && !__builtin_cpu_supports("avx512vl")) continue;
    const std::string text = output_of(program);
    ASSERT_GT(text.size(), 100'000) << program;
    if (first.empty()) first = text;
    std::istringstream expected(first), found(text);
    int different = 0;
    for (std::string a, b; std::getline(expected, a) && std::getline(found, b);)
      if (a != b && ++different <= 10) ADD_FAILURE() << program << ": " << b << ", not " << a;
    EXPECT_EQ(text.size(), first.size()) << program;
  }
}

}  // namespace
}  // namespace heed
#endif
