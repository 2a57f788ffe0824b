// IEEE's binary16: 11 bits of precision, the largest number is 65504.
#pragma once

namespace heed {

#ifdef __aarch64__
using Float16 = __fp16;  // g++ 12 has no _Float16 there
#else
using Float16 = _Float16;
#endif

}  // namespace heed
