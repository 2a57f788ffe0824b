// When training has failed: numbers that are none, or weights that are far worse than guessing.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/pool.h"
#include "nn/transformer.h"
#include "train/examples.h"

namespace heed {

// "NaN or infinity in the values of encoder.layers.0.fc1.weight": the first tensor with one, looked
// for in the values, then in their gradients; else in `otherwise`.
std::string not_finite(const ParamTable& table, const ParamVec<float>& values,
                       const ParamVec<float>& gradients, const std::string& otherwise);

// Whether weights are worth keeping, asked on a few examples before every save: a checkpoint must
// be one to go on from.
class WeightCheck {
 public:
  // All references must outlive it.
  WeightCheck(const Transformer& model, const Examples& examples, Pool& pool)
      : model_(model), examples_(examples), pool_(pool) {}

  // The weights that training begins or goes on with. Their loss may be above guessing, too: that
  // of weights as they are drawn, or of another text's.
  void begins_with(const ParamVec<float>& values) { first_loss_ = loss(values); }

  // What is wrong with these, or "": a NaN or infinity, or such a loss.
  std::string fault(const ParamVec<float>& values) const;
  // A loss is one of ruined weights if it is over 16 nats (the right token has less than one chance
  // in eight million), over four times that of guessing, and over twice that of the beginning.
  std::string fault_of_loss(double loss) const;

 private:
  double loss(const ParamVec<float>& values) const;  // nats per token; 0 if none is scored

  const Transformer& model_;
  const Examples& examples_;
  Pool& pool_;
  double first_loss_ = std::numeric_limits<double>::infinity();
};

struct Divergence {
  std::int64_t step;
  std::string what;
  double loss, rate;          // of the last step
  std::string run;            // folder
  std::int64_t saved;         // the last checkpoint's step; negative: none
  double peak_learning_rate;  // of the config
};

std::string divergence_text(const Divergence& d);
// Exit::diverged: the text, what is left, and how to see it again and go on.
Error divergence_error(const Divergence& d);

}  // namespace heed
