#include "nn/norm.h"

#include "math/layer_norm.h"

namespace heed {

Norm::Norm(ParamTable& table, const std::string& name, int d)
    : weight(table.add_vector(name + ".weight", d, Initializer::ones)),
      bias(table.add_vector(name + ".bias", d, Initializer::zeros)) {}

template <class T>
Norm::Forward<T> Norm::forward(Pass<T>& pass, In<T> x) const {
  Timed timed(pass.profile, Work::norms_activations);
  Forward<T> f{pass.matrix(x.rows, x.cols), pass.matrix(x.rows, 2)};
  layer_norm(x, pass[weight], pass[bias], f.y, f.stats);
  return f;
}

template <class T>
void Norm::backward(Pass<T>& pass, In<T> x, In<T> stats, In<T> dy, Mat<T> dx) const {
  Timed timed(pass.profile, Work::norms_activations);
  layer_norm_backward(x, pass[weight], stats, dy, dx, pass.gradient(weight), pass.gradient(bias));
}

#define HEED_INSTANTIATE(T)                                              \
  template Norm::Forward<T> Norm::forward(Pass<T>&, Mat<const T>) const; \
  template void Norm::backward(Pass<T>&, Mat<const T>, Mat<const T>, Mat<const T>, Mat<T>) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
