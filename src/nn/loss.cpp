#include "nn/loss.h"

#include <array>
#include <cmath>
#include <span>

#include "base/error.h"
#include "base/profile.h"
#include "base/std_names.h"
#include "math/row_ops.h"
#include "math/softmax.h"

namespace heed {
namespace {

// The mask of the loss: skips rows with label -1. Calls body(numbers, h, logits) for the others, a
// few at a time: row numbers [n], h [n, d], logits [n, K].
template <class T, class Body>
void for_labelled_rows(Pass<T>& pass, const Linear& output, In<T> hidden, const vector<int>& labels,
                       Body&& body) {
  array<int, kLossRows> numbers;
  for (int next = 0; next < hidden.rows;) {
    size_t n = 0;
    for (; next < hidden.rows && n < numbers.size(); ++next)
      if (labels[next] >= 0) numbers[n++] = next;
    if (n == 0) return;
    WorkspaceScope scope(pass.workspace);
    const Mat<T> h = pass.matrix(int(n), hidden.cols);
    for (int i = 0; i < h.rows; ++i) copy_row(hidden, numbers[i], h, i);
    body(span(numbers).first(n), h, output.forward(pass, h));
  }
}

}  // namespace

template <class T>
LossSums loss(Pass<T>& pass, const Linear& output, In<T> hidden, const vector<int>& labels,
              double smoothing, const RowSeen<T>& seen, const RowsChanged<T>& changed) {
  const Timed timed(Work::loss);
  LossSums sums;
  for_labelled_rows(
      pass, output, hidden, labels, [&](span<const int> numbers, Mat<T>, Mat<T> logits) {
        if (changed) changed(numbers, logits);
        for (int i = 0; i < logits.rows; ++i) {
          const RowLoss row =
              cross_entropy<T>(logits.row(i), logits.cols, labels[numbers[i]], smoothing);
          sums += {row.objective, row.nll, 1};
          if (seen) seen(numbers[i], {logits.row(i), size_t(logits.cols)}, row.nll);
        }
      });
  return sums;
}

// dlogits = scale (p - (1 - eps) [y] - eps / K),  dh = dlogits W,  dW += dlogitsᵀ h
template <class T>
LossSums loss_backward(Pass<T>& pass, const Linear& output, In<T> hidden, const vector<int>& labels,
                       const LossOptions& options, Mat<T> dhidden) {
  const Timed timed(Work::loss);
  LossSums sums;
  set_zero(dhidden);
  for_labelled_rows(
      pass, output, hidden, labels, [&](span<const int> numbers, Mat<T> h, Mat<T> logits) {
        for (int i = 0; i < logits.rows; ++i) {
          const RowLoss row = cross_entropy_backward(logits.row(i), logits.cols, labels[numbers[i]],
                                                     options.smoothing, T(options.scale));
          if (options.rows) options.rows[numbers[i]] = row.objective;
          sums += {row.objective, row.nll, 1};
        }
        const Mat<T> dh = pass.zeros(h.rows, h.cols);
        output.backward(pass, h, logits, dh);  // logits now holds dlogits
        for (int i = 0; i < h.rows; ++i) copy_row(dh, i, dhidden, numbers[i]);
      });
  return sums;
}

void require_finite(double x) {
  if (isfinite(x)) return;
  throw Error(Exit::diverged, "the model's logits are NaN or infinite: its weights are ruined.",
              "an earlier checkpoint: --checkpoint");
}

void require_finite(In<float> rows) {
  float sum = 0;  // of x - x, which is 0, or NaN where x is NaN or infinite
  for (int r = 0; r < rows.rows; ++r) {
    const float* x = rows.row(r);
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < rows.cols; ++c) sum += x[c] - x[c];
  }
  require_finite(sum);
}

#define HEED_INSTANTIATE(T)                                                           \
  template LossSums loss(Pass<T>&, const Linear&, In<T>, const vector<int>&, double,  \
                         const RowSeen<T>&, const RowsChanged<T>&);                   \
  template LossSums loss_backward(Pass<T>&, const Linear&, In<T>, const vector<int>&, \
                                  const LossOptions&, Mat<T>);
HEED_FLOAT_AND_DOUBLE(HEED_INSTANTIATE)
#undef HEED_INSTANTIATE

}  // namespace heed
