// Counter-based random numbers: every draw is a pure function of a key (cf. Salmon et al. 2011).
//
// A key is a 64-bit hash of the seed, the purpose and whatever names the draw (step, sequence,
// position, layer). There is no state, so resuming a run has nothing to restore, and a draw depends
// neither on threads nor on the place of a row in a buffer.
//
// hash64 is SplitMix64 (Steele, Lea and Flood 2014). noise32 is two rounds of a 32-bit
// multiply-xorshift mixer; it vectorises and is cheap enough to redraw in backward.
#pragma once

#include <cstdint>
#include <string_view>

namespace heed {

enum class Purpose : std::uint64_t {
  init = 1,
  order,
  offset,
  dropout,
  mask,
  sample,
  tokenizer_sample,
  probe,
};

constexpr std::uint64_t hash64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Adds one more part to a key.
constexpr std::uint64_t combine(std::uint64_t key, std::uint64_t part) {
  return hash64(key ^ (part * 0xD6E8FEB86659FD93u + 0x2545F4914F6CDD1Du));
}

template <class... Parts>
constexpr std::uint64_t noise_key(std::uint64_t seed, Purpose purpose, Parts... parts) {
  std::uint64_t key = combine(hash64(seed), static_cast<std::uint64_t>(purpose));
  ((key = combine(key, static_cast<std::uint64_t>(parts))), ...);
  return key;
}

// A key from the name of a layer or tensor.
constexpr std::uint64_t name_key(std::string_view name) {
  std::uint64_t key = 0;
  for (char c : name) key = combine(key, static_cast<unsigned char>(c));
  return key;
}

// 32 random bits for `column` under `key`.
constexpr std::uint32_t noise32(std::uint64_t key, std::uint32_t column) {
  std::uint32_t x = column * 0x9E3779B9u + static_cast<std::uint32_t>(key);
  x = (x ^ (x >> 16)) * 0x21F0AAADu;
  x ^= static_cast<std::uint32_t>(key >> 32);
  x = (x ^ (x >> 15)) * 0xD35A2D97u;
  return x ^ (x >> 15);
}

// Uniform in [0, 1), 53 bits.
constexpr double uniform01(std::uint64_t key, std::uint64_t index) {
  return static_cast<double>(combine(key, index) >> 11) * 0x1.0p-53;
}

// A permutation of 0..n-1, computed, not stored: a four-round Feistel network (Luby and Rackoff
// 1988) on the smallest even number of bits that holds n, repeated until the value is below n
// (cycle walking, Black and Rogaway 2002).
constexpr std::uint64_t permuted(std::uint64_t key, std::uint64_t n, std::uint64_t i) {
  if (n < 2) return i;
  int half = 1;
  while ((std::uint64_t{1} << (2 * half)) < n) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = i >> half, right = i & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ (combine(key, (round << 60) | right) & mask);
      left = right;
      right = next;
    }
    i = (left << half) | right;
  } while (i >= n);
  return i;
}

}  // namespace heed
