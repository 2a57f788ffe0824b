// train.arithmetic: whose bits the numbers of a run have.
//
// heed's own kernels give the same bits in every build for processors with fused multiply-add
// (lanes.h). What it calls does not: OpenBLAS has kernels for many types of processor, which round
// differently, and C libraries may. `portable` takes the kernels for Haswell, which every x86-64-v3
// processor can run and which are equal in OpenBLAS 0.3.21 and 0.3.29, and of the C library nothing
// but exp, log, pow, sin and cos in double, equal in glibc 2.36 and 2.41. Both are checked, so that
// a library with other bits is an error and not another result.
#pragma once

#include <string>

namespace heed {

enum class Arithmetic { native, portable };

// prepare_blas() for this arithmetic; portable overrides OPENBLAS_CORETYPE, and the process stays
// so. Error (usage) if it is portable, and the products or functions here have other bits.
void prepare_arithmetic(Arithmetic arithmetic, int threads = 1);

// For --version: "available", or why portable runs are refused here. It makes the process portable.
std::string portable_info();

}  // namespace heed
