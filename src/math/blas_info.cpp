#include "math/blas_info.h"

#include <cblas.h>

namespace heed {

std::string blas_config() {
  std::string config = openblas_get_config();
  while (config.ends_with(' ')) config.pop_back();
  return config;
}

std::string blas_core_type() {
  return openblas_get_corename();
}

std::string blas_threading() {
  switch (openblas_get_parallel()) {
    case OPENBLAS_SEQUENTIAL:
      return "sequential";
    case OPENBLAS_THREAD:
      return "pthreads";
    default:
      return "OpenMP";
  }
}

}  // namespace heed
