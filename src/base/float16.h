// IEEE's binary16: 11 bits of precision, the largest number is 65504.
#pragma once

#include <cmath>

#include "base/error.h"
#include "base/std_names.h"

namespace heed {

#ifdef __aarch64__
using Float16 = __fp16;  // g++ 12 has no _Float16 there
#else
using Float16 = _Float16;
#endif

// Error (usage) if it is too large; it is one of the tensor `name`.
inline Float16 to_float16(float x, const string& name, const string& hint) {
  const auto rounded = Float16(x);
  if (isfinite(float(rounded))) return rounded;
  throw Error(Exit::usage, name + " has a number beyond 65504, the largest float16.", hint);
}

}  // namespace heed
