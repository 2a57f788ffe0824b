// The optimizers: one sweep over all parameters per step, which leaves the gradient at zero for the
// next one, and the rules by which it moves the numbers of a tensor.
//
//   g <- g * clip      clip = min(1, clip_norm / (norm + 1e-6))  (Pascanu, Mikolov and Bengio 2013)
//
//   w <- w - rate * weight_decay * w        (matrices only; Loshchilov and Hutter 2019), then
//
//   adam, adamw   m <- b1 m + (1 - b1) g,  v <- b2 v + (1 - b2) g^2     (Kingma and Ba 2015)
//                 w <- w - rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
//   sgd           m <- momentum m + g,  w <- w - rate * m               (without momentum: m = g)
//   muon          m <- momentum m + g,                                  (Jordan et al. 2024)
//                 w <- w - rate * 0.2 sqrt(max(rows, cols)) * NS(g + momentum m)
//
//   e <- ema_decay e + (1 - ema_decay) w      the averaged values, if there are any
//
// muon is for the matrices of the layers, each of q, k and v by itself; embeddings, output, norms
// and biases get adamw. NS is in newton_schulz.h; the factor makes a step of a matrix about as long
// as adamw's, so that one rate serves both (Liu et al. 2025, section 2.2).
//
// To add one: its function, its UpdateRule, and a row in the table in optimizers.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/pool.h"
#include "base/std_names.h"
#include "config/fields.h"
#include "config/train_config.h"
#include "math/products.h"
#include "nn/param.h"

namespace heed {

// What one step needs besides the numbers.
struct Update {
  int64_t step;            // from 1
  double rate;             // learning rate
  double clip = 1.0;       // factor on the gradient
  double ema_decay = 0.0;  // of the averaged values
};

// Some of a tensor's numbers, all beside each other, and what moves them.
template <class T>
struct Stretch {
  const OptimizerConfig& config;
  const Update& update;
  const Products<T>& products;
  T keep;    // 1 - rate * weight_decay, or 1 for what does not decay
  T *w, *g;  // values, and their gradient, not clipped yet; the last move leaves it at zero
  T *m, *v;  // moments: as many as the rule has names for
  size_t size;
};

// How the numbers of a tensor move.
struct UpdateRule {
  using Reverse = void (*)(const Stretch<double>& after, const Stretch<double>& adjoint);
  template <class T>
  using Move = void (*)(const Stretch<T>&);
  template <class T>
  using MoveMatrix = void (*)(const Stretch<T>&, int rows, int cols, Workspace&);

  vector<string> moments;  // at most two; what names in checkpoints begin with: "adam.m."
  std::tuple<Move<float>, Move<double>> move;  // called for parts of a tensor
  // From the adjoints of w, m and v (0 of moments that it has not) after move() those before it,
  // and of the clipped gradient, in g. `after`: g as it was before move(), m and v as it left them.
  // Null: nobody has derived it.
  Reverse reverse = nullptr;
  // If `workspace` is not null, move_matrix is called for the whole matrix after move() has been
  // called for all its parts.
  std::tuple<MoveMatrix<float>, MoveMatrix<double>> move_matrix = {};
  size_t (*workspace)(Param) = nullptr;  // the numbers that move_matrix takes, at most
  double (*products)(Param) = nullptr;   // its time, as if in numbers that move() moves
};

struct OptimizerKind {
  KindDoc doc;               // its name is optimizer.type
  vector<UpdateRule> rules;  // of which it may use several
  // Which of its rules moves a tensor; null: the only one.
  int (*rule_of)(const OptimizerConfig& config, const ParamInfo& info) = nullptr;
};

// The table. Rows may be added before the first config is read.
vector<OptimizerKind>& optimizers();
const UpdateRule& rule_of(const OptimizerConfig& config, const ParamInfo& info);

// weight_decay and momentum, where they were not given.
void fill_in_defaults(OptimizerConfig& config);

// 1 - rate * weight_decay, or 1 for what does not decay.
double kept_share(const OptimizerConfig& config, double rate, const ParamInfo& info);

// Factor on the gradient; clip_norm 0 is no clipping.
double clip_factor(double clip_norm, double gradient_norm);

// How many moments, each an array of the model's size, the optimizer keeps.
int moments_kept(const ParamTable& table, const OptimizerConfig& config);

// The numbers that one thread takes from its workspace, at most.
size_t optimizer_workspace(const ParamTable& table, const OptimizerConfig& config);

template <class T>
class Optimizer {
 public:
  // Table and products must outlive it. Moves blocks [begin, end) of the list.
  Optimizer(const ParamTable& table, const OptimizerConfig& config,
            const Products<T>& products = blas_products<T>(), size_t begin = 0,
            size_t end = string::npos);

  // Moves the values and leaves the gradients at zero. `averaged`, if given, follows the new
  // values.
  void step(Pool& pool, const Update& update, ParamVec<T>& values, ParamVec<T>& gradients,
            ParamVec<T>* averaged = nullptr);

  // What a checkpoint keeps of a tensor.
  struct Moment {
    string name;  // "adam.m." and the tensor's
    const ParamInfo* tensor;
    T* values;
  };
  vector<Moment> moments();
  // The same as whole arrays.
  span<ParamVec<T>> moment_arrays() { return moments_; }

 private:
  const ParamTable& table_;
  OptimizerConfig config_;
  const Products<T>& products_;
  vector<WeightBlock> blocks_;
  vector<const ParamInfo*> matrices_;  // of rules with a move_matrix, the largest first
  vector<ParamVec<T>> moments_;        // as many as a rule of a tensor has
  vector<Workspace> workspaces_;       // of each thread, for them
};

}  // namespace heed
