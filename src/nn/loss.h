// The loss of a batch: cross-entropy of the output layer's logits, over the rows that have a label.
//
//   logits = h Wᵀ,   p = softmax(logits)                                  [rows, vocab]
//   L = sum over rows with a label y >= 0 of  -(1 - eps) log p_y - eps / K sum_k log p_k
//
// eps is label smoothing over all K classes (Szegedy et al. 2016, section 7). The label is the mask
// of the loss: a row with label -1 never reaches the output layer, and its gradient is zero. The
// objective (data/objectives.cpp) sets it. Logits exist for a few rows at a time, never for a whole
// batch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/std_names.h"
#include "nn/linear.h"

namespace heed {

// Rows of logits held at a time: enough for a fast product, few enough for the cache.
inline constexpr int kLossRows = 256;

// Sums over label tokens, in nats.
struct LossSums {
  double objective = 0.0;  // what is minimised
  double nll = 0.0;        // -log p(label): what is reported
  int64_t tokens = 0;
  LossSums& operator+=(const LossSums& o) {
    objective += o.objective;
    nll += o.nll;
    tokens += o.tokens;
    return *this;
  }
};

struct LossOptions {
  double smoothing = 0.0;
  double scale = 1.0;      // of the gradient: 1 / label tokens of the whole step
  double* rows = nullptr;  // gets the objective of each row that has a label, if given
};

// Sees each row that has a label: its number, its logits, and -log p(label).
template <class T>
using RowSeen = function<void(int row, span<const T> logits, double nll)>;

// Changes the logits of the rows with these numbers, before they are looked at.
template <class T>
using RowsChanged = function<void(span<const int> rows, Mat<T> logits)>;

// hidden [rows, d].
template <class T>
LossSums loss(Pass<T>& pass, const Linear& output, In<T> hidden, const vector<int>& labels,
              double smoothing = 0.0, const RowSeen<T>& seen = {},
              const RowsChanged<T>& changed = {});

// The same with its gradient: overwrites dhidden [rows, d], adds to that of the output layer.
template <class T>
LossSums loss_backward(Pass<T>& pass, const Linear& output, In<T> hidden, const vector<int>& labels,
                       const LossOptions& options, Mat<T> dhidden);

// The check after the forward pass of every command that shows a model's results: Error (diverged)
// if its logits, or its hidden rows if only those are read, have a NaN or an infinity. Training
// measures with the same passes but has its own message (train/validation.h).
void require_finite(In<float> rows);
// The same of a number that all of them are in: the objective of a loss() has eps times the sum of
// the logits, and 0 times infinity is NaN too.
void require_finite(double x);

}  // namespace heed
