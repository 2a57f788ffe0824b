// train.precision: float32, or bfloat16, whose products take rounded operands and sum in float32
// (Kalamkar et al. 2019, "A Study of BFLOAT16 for Deep Learning Training").
//
//   rounded, to nearest even     the weights, the inputs and the output gradients of linear layers
//   float32                      all else: products' sums and results, biases and their gradients,
//                                attention, residual stream, norms, softmax, loss, gradients, the
//                                weights that the optimizer moves, checkpoints
//
// Weights are rounded once a step, in weights_changed(), into one array that all threads read.
// Activations are rounded once in forward and once in backward, into memory that each thread keeps,
// with zeros up to whole blocks of 64 rows and 32 columns; so are weights whose sizes are no
// multiples of 32. So products have few shapes, and what a row becomes depends on its batch alone.
//
// The module heed_onednn (math/onednn.h) multiplies, where it was built and the processor has
// AVX512_BF16 or AMX. Elsewhere OpenBLAS multiplies the rounded numbers as floats: the same but
// for the order of the sums, and slower. Numbers below 2^-126 count as 0 in the module alone.
#pragma once

#include <memory>
#include <string>

#include "base/std_names.h"
#include "math/products.h"

namespace heed {

enum class Precision { float32, bfloat16 };

// `use_module`: if there is one.
unique_ptr<Products<float>> make_products(Precision precision, bool use_module = true);

// What multiplies: "oneDNN 2.6.3", or "float32 products of rounded numbers, slower: why".
string bfloat16_info();

}  // namespace heed
