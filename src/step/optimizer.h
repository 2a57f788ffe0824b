// One sweep over all parameters per step: clipping, moments, decay, update, and the gradient is
// left at zero for the next step.
//
//   g <- g * clip      clip = min(1, clip_norm / (norm + 1e-6))  (Pascanu, Mikolov and Bengio 2013)
//   w <- w - rate * weight_decay * w        (matrices only; Loshchilov and Hutter 2019)
//
//   adam, adamw   m <- b1 m + (1 - b1) g,  v <- b2 v + (1 - b2) g^2     (Kingma and Ba 2015)
//                 w <- w - rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
//   sgd           m <- momentum m + g,  w <- w - rate * m               (without momentum: m = g)
//   muon          m <- momentum m + g,                                  (Jordan et al. 2024)
//                 w <- w - rate * 0.2 sqrt(max(rows, cols)) * NS(g + momentum m)
//
// muon is for the matrices of the layers, each of q, k and v by itself; embeddings, output, norms
// and biases get adamw. NS is in newton_schulz.h; the factor makes a step of a matrix about as long
// as adamw's, so that one rate serves both (Liu et al. 2025, section 2.2).
//
// To add one: a name in OptimizerType and how many moments it keeps (config/optimizer_config.h),
// its branch in step(), and the names of its moments in moments().
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/pool.h"
#include "base/profile.h"
#include "config/optimizer_config.h"
#include "math/workspace.h"
#include "nn/param.h"
#include "step/weight_blocks.h"

namespace heed {

// Factor on the gradient; clip_norm 0 is no clipping.
double clip_factor(double clip_norm, double gradient_norm);

// Does muon move this tensor?
bool moved_by_muon(const OptimizerConfig& config, const ParamInfo& info);

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
            ParamVec<T>* averaged = nullptr, std::span<Profile> profiles = {});

  // What a checkpoint keeps: arrays, each for the tensors that use it.
  struct Moment {
    std::string prefix;  // of the names of its tensors: "adam.m."
    ParamVec<T>* values;
    std::function<bool(const ParamInfo&)> used_by;
  };
  std::vector<Moment> moments();

 private:
  struct Part {
    WeightBlock block;
    bool decay, muon;
  };
  struct Sweep;
  void move_matrix(Param p, const Sweep& sweep, Workspace& workspace) const;

  OptimizerConfig config_;
  std::vector<Part> parts_;
  std::vector<Param> matrices_;  // those that muon moves, the largest first
  ParamVec<T> m_, v_;
  std::vector<Workspace> workspaces_;  // of each thread, for muon
};

}  // namespace heed
