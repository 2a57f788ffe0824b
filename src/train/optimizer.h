// One sweep over all parameters per step: clipping, moments, decay, update, and the gradient is
// left at zero for the next step.
//
//   g <- g * clip      clip = min(1, clip_norm / (norm + 1e-6))  (Pascanu, Mikolov and Bengio 2013)
//   m <- b1 m + (1 - b1) g,  v <- b2 v + (1 - b2) g^2
//   w <- w - rate * weight_decay * w        (matrices only; Loshchilov and Hutter 2019)
//   w <- w - rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)      (Kingma and Ba 2015)
// sgd: w <- w - rate * (weight_decay * w + g).
//
// To add one: a name in OptimizerType and how many moments it keeps (config/optimizer_config.h),
// its branch in step(), and the names of its moments in a checkpoint (train/stepper.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "base/pool.h"
#include "base/profile.h"
#include "config/optimizer_config.h"
#include "nn/param.h"

namespace heed {

// Factor on the gradient; clip_norm 0 is no clipping.
double clip_factor(double clip_norm, double gradient_norm);

// What one step needs besides the numbers.
struct Update {
  std::int64_t step;       // from 1
  double rate;             // learning rate
  double clip = 1.0;       // factor on the gradient
  double ema_decay = 0.0;  // of the averaged values
};

template <class T>
class Optimizer {
 public:
  Optimizer(const ParamTable& table, const OptimizerConfig& config);

  // Moves the values and leaves the gradients at zero. `averaged`, if given, follows the new
  // values: e <- decay e + (1 - decay) w. `profiles`: of each worker, or empty.
  void step(Pool& pool, const Update& update, ParamVec<T>& values, ParamVec<T>& gradients,
            ParamVec<T>* averaged = nullptr, const std::vector<Profile*>& profiles = {});

  bool has_moments() const { return moments_of(config_.type) > 0; }
  ParamVec<T>& m() { return m_; }
  ParamVec<T>& v() { return v_; }

 private:
  // Stretches of the flat array that are decayed or not.
  struct Stretch {
    std::size_t begin, end;
    bool decay;
  };
  OptimizerConfig config_;
  std::vector<Stretch> stretches_;
  ParamVec<T> m_, v_;
};

}  // namespace heed
