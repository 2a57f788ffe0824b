// Which BLAS this is, for --version and logs.
#pragma once

#include <string>

namespace heed {

std::string blas_config();     // "OpenBLAS 0.3.21 DYNAMIC_ARCH ... Haswell MAX_THREADS=64"
std::string blas_core_type();  // the processor whose kernels it chose: "Haswell"
std::string blas_threading();  // "sequential", "pthreads" or "OpenMP"

}  // namespace heed
