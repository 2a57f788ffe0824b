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

#include "base/std_names.h"

namespace heed {

enum class Purpose : uint64_t {
  init = 1,
  order,
  offset,
  dropout,
  mask,
  sample,
  tokenizer_sample,
  probe,
};

constexpr uint64_t hash64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Adds one more part to a key.
constexpr uint64_t combine(uint64_t key, uint64_t part) {
  return hash64(key ^ (part * 0xD6E8FEB86659FD93u + 0x2545F4914F6CDD1Du));
}

template <class... Parts>
constexpr uint64_t noise_key(uint64_t seed, Purpose purpose, Parts... parts) {
  uint64_t key = combine(hash64(seed), uint64_t(purpose));
  ((key = combine(key, uint64_t(parts))), ...);
  return key;
}

// A key from the name of a layer or tensor.
constexpr uint64_t name_key(string_view name) {
  uint64_t key = 0;
  for (char c : name) key = combine(key, uint8_t(c));
  return key;
}

// 32 random bits for `column` under `key`.
constexpr uint32_t noise32(uint64_t key, uint32_t column) {
  uint32_t x = column * 0x9E3779B9u + uint32_t(key);
  x = (x ^ (x >> 16)) * 0x21F0AAADu;
  x ^= uint32_t(key >> 32);
  x = (x ^ (x >> 15)) * 0xD35A2D97u;
  return x ^ (x >> 15);
}

// Uniform in [0, 1), 53 bits.
constexpr double uniform01(uint64_t key, uint64_t index) {
  return double(combine(key, index) >> 11) * 0x1.0p-53;
}

// A permutation of 0..n-1, computed, not stored: a four-round Feistel network (Luby and Rackoff
// 1988) on the smallest even number of bits that holds n, repeated until the value is below n
// (cycle walking, Black and Rogaway 2002).
constexpr uint64_t permuted(uint64_t key, uint64_t n, uint64_t i) {
  if (n < 2) return i;
  int half = 1;
  while ((uint64_t{1} << (2 * half)) < n) ++half;
  const uint64_t mask = (uint64_t{1} << half) - 1;
  do {
    uint64_t left = i >> half, right = i & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (combine(key, (round << 60) | right) & mask);
      left = right;
      right = next;
    }
    i = (left << half) | right;
  } while (i >= n);
  return i;
}

}  // namespace heed
