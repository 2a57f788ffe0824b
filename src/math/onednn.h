// What heed_onednn.so offers: products of bfloat16 matrices by oneDNN. It is a module because it
// brings OpenMP along, and because programs must start without it.
#pragma once

#include <compare>
#include <cstdint>

#include "base/std_names.h"

namespace heed {

// C [m, n] = A [m, k] B [k, n] (+ bias [1, n]) (+ C), row-major. Transposed: the numbers lie as
// those of a row-major Aᵀ or Bᵀ do. ld: from one row to the next, in numbers.
struct OnednnProduct {
  int m, n, k, lda, ldb, ldc;
  bool a_transposed, b_transposed, with_bias, add;
  auto operator<=>(const OnednnProduct&) const = default;
};

// The one symbol of the module.
struct OnednnModule {
  // Counted up with every change to this file: one with another number is of another heed.
  static constexpr int kInterface = 1;
  int interface = kInterface;
  // "2.6.3, AVX512_BF16"; null without such products, or where oneDNN is told not to use them. Asks
  // the system for the registers of AMX, so it comes before the first product.
  const char* (*version)();
  // Any number of threads at once; each keeps what it has prepared for the products it has seen.
  void (*multiply)(const OnednnProduct& product, const uint16_t* a, const uint16_t* b,
                   const float* bias, float* c);
};
extern "C" const OnednnModule heed_onednn;

}  // namespace heed
