// Softmax of a row, and the cross-entropy on top of it with its gradient.
#pragma once

namespace heed {

// The largest of x[0..n), n >= 1.
template <class T>
T largest(const T* x, int n);

// In place: the first `visible` numbers of the row become their softmax, the rest 0.
template <class T>
void softmax(T* row, int visible, int cols);

// One row of logits under the smoothed cross-entropy (eps/K over all K):
//   loss = (1 - eps) (lse - l_y) + eps (lse - mean l),   lse = log sum exp l
struct RowLoss {
  double objective, nll;  // nats; the smoothed loss, and -log p(label)
  bool correct;           // the label is the first of the largest logits
};
template <class T>
RowLoss cross_entropy(const T* logits, int classes, int label, double smoothing);
// The same; in place the logits become scale * (softmax - (1 - eps) [label] - eps / K).
template <class T>
RowLoss cross_entropy_backward(T* logits, int classes, int label, double smoothing, T scale);

}  // namespace heed
