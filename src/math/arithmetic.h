// train.arithmetic: whose bits the numbers of a run have.
//
// heed's own kernels have the same bits in every build (lanes.h). OpenBLAS has kernels for many
// types of processor, which round differently; `portable` takes those for Haswell, which every
// x86-64-v3 processor can run and which are the same in versions 0.3.21 and 0.3.29. Of the C
// library training uses exp, log, pow, sin and cos in double, the same in glibc 2.36 and 2.41.
#pragma once

#include <string>

#include "base/std_names.h"

namespace heed {

enum class Arithmetic { native, portable };

// prepare_blas(), and for portable arithmetic Haswell's kernels, whatever OPENBLAS_CORETYPE says,
// for the rest of the process. Error (usage) if products or functions have other bits then.
void prepare_arithmetic(Arithmetic arithmetic, int threads);

// For --version: "available", or why there is no portable arithmetic here. The process has it then.
string portable_info();

}  // namespace heed
