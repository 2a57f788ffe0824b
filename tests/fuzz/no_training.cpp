// The table of optimizers names Muon's arithmetic. No parser calls it, and clang cannot compile the
// kernels below it.
#include <cstdlib>

#include "step/newton_schulz.h"

namespace heed {

template <class T>
void orthogonalize(Mat<T>, const Products<T>&, Workspace&) {
  std::abort();
}
template void orthogonalize(Mat<float>, const Products<float>&, Workspace&);
template void orthogonalize(Mat<double>, const Products<double>&, Workspace&);

}  // namespace heed
