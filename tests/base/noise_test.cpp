#include "base/noise.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace heed {
namespace {

// Pearson's chi square of `draws` numbers in 0..255 against equal frequencies; 255 degrees of
// freedom: mean 255, deviation sqrt(510) = 22.6. More than 6 deviations is not chance.
template <class Draw>
void expect_uniform_bytes(Draw&& draw, const char* what) {
  constexpr int kDraws = 256 * 400;
  std::vector<int> counts(256);
  for (int i = 0; i < kDraws; ++i) ++counts[draw(i)];
  double chi = 0;
  for (int n : counts) chi += (n - 400.0) * (n - 400.0) / 400.0;
  EXPECT_LT(chi, 255 + 6 * 22.6) << what;
  EXPECT_GT(chi, 255 - 6 * 22.6) << what << " (too even)";
}

TEST(Noise, EveryByteOfNoise32IsUniform) {
  for (int shift : {0, 8, 16, 24}) {
    const auto byte = [&](std::uint32_t x) { return (x >> shift) & 255; };
    const std::uint64_t key = noise_key(1, Purpose::dropout, 2);
    expect_uniform_bytes([&](int i) { return byte(noise32(key, i)); }, "columns");
    expect_uniform_bytes([&](int i) { return byte(noise32(combine(key, i), 3)); }, "keys");
    expect_uniform_bytes([&](int i) { return byte(noise32(combine(key, i / 320), i % 320)); },
                         "rows of columns");
  }
}

TEST(Noise, KeysAreUniform) {
  for (int shift : {0, 24, 56}) {
    expect_uniform_bytes([&](int i) { return (noise_key(7, Purpose::order, i) >> shift) & 255; },
                         "last part");
    expect_uniform_bytes([&](int i) { return (noise_key(i, Purpose::order, 3) >> shift) & 255; },
                         "seed");
  }
}

TEST(Noise, SeedsPurposesAndPartsAllMatter) {
  std::set<std::uint64_t> keys;
  int made = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const Purpose p : {Purpose::init, Purpose::dropout, Purpose::sample})
      for (int a = 0; a < 10; ++a)
        for (int b = 0; b < 10; ++b, ++made) keys.insert(noise_key(seed, p, a, b));
  EXPECT_EQ(static_cast<int>(keys.size()), made);
  EXPECT_NE(name_key("encoder.layers.0"), name_key("encoder.layers.1"));
  EXPECT_NE(name_key("ab"), name_key("ba"));
}

bool is_permutation_of(std::uint64_t key, std::uint64_t n) {
  std::vector<bool> seen(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t j = permuted(key, n, i);
    if (j >= n || seen[j]) return false;
    seen[j] = true;
  }
  return true;
}

TEST(Permuted, IsAPermutationForEveryLengthAndKey) {
  for (std::uint64_t n = 1; n <= 300; ++n)
    for (std::uint64_t key : {0, 1, 12345}) ASSERT_TRUE(is_permutation_of(hash64(key), n)) << n;
  for (std::uint64_t n : {1023, 1024, 1025, 4095, 4097, 65'535, 65'536, 65'537, 100'003})
    ASSERT_TRUE(is_permutation_of(hash64(n), n)) << n;
}

TEST(Permuted, TheFirstIsAnyoneEquallyOften) {
  expect_uniform_bytes([](int i) { return permuted(hash64(i), 256, 0); }, "first of 256");
  expect_uniform_bytes([](int i) { return permuted(hash64(i), 256, 255); }, "last of 256");
}

}  // namespace
}  // namespace heed
