// Softmax of a row, and the cross-entropy on top of it with its gradient.
#pragma once

namespace heed {

// The largest of x[0..n), n >= 1.
template <class T>
T largest(const T* x, int n);

// In place: the first `visible` numbers of the row become their softmax, the rest 0. Its gradient
// is part of head_backward (math/attention_head.h).
template <class T>
void softmax(T* row, int visible, int cols);

// The cross-entropy of one row of K logits l with label y, with label smoothing eps (Szegedy et al.
// 2016, section 7):
//   loss = (1 - eps) (lse - l_y) + eps (lse - mean l),   lse = log sum exp l
struct RowLoss {
  double objective, nll;  // nats; the smoothed loss, and -log p(label)
};
template <class T>
RowLoss cross_entropy(const T* logits, int classes, int label, double smoothing);
// The same, with the gradient: in place the logits become scale * (p - (1 - eps) [y] - eps / K).
template <class T>
RowLoss cross_entropy_backward(T* logits, int classes, int label, double smoothing, T scale);

}  // namespace heed
