#include "decode/predictor.h"

#include <algorithm>
#include <cmath>

#include "base/std_names.h"
#include "math/row_ops.h"
#include "math/softmax.h"

namespace heed {

// The logits of the first model plus ln(mean exp d_i), where d_i = l_i - l_0: the same but for a
// shift of the whole row.
void average_row(Mat<float> logits, const vector<Mat<float>>& others, int row) {
  const auto log_sum = [&](const Mat<float>& of) {
    const float* x = of.row(row);
    return x[0] + cross_entropy(x, of.cols, 0, 0.0).nll;
  };
  const double own_sum = log_sum(logits);
  vector<double> sums, d(others.size());
  for (const Mat<float>& other : others) sums.push_back(log_sum(other));
  for (int k = 0; k < logits.cols; ++k) {
    float& own = logits(row, k);
    double most = 0, sum = 0;
    for (size_t i = 0; i < d.size(); ++i) {
      d[i] = (others[i](row, k) - sums[i]) - (own - own_sum);
      most = max(most, d[i]);
    }
    for (const double x : d) sum += exp(x - most);
    const double n = 1 + d.size();
    own = float(own + most + std::log((exp(-most) + sum) / n));
  }
}

Pass<float> Predictor::pass(Workspace& workspace, Observer<float>* observer) const {
  return {.values = values,
          .workspace = workspace,
          .forward_only = true,
          .products = &products,
          .observer = observer};
}

RowsChanged<float> Predictor::averaging(Workspace& workspace, const Batch& batch) const {
  vector<pair<Pass<float>, Mat<float>>> read;  // of each of the others, and what its output gets
  for (const Predictor& other : others) {
    auto& [pass, hidden] = read.emplace_back(other.pass(workspace), Mat<float>());
    TransformerSaved<float> saved;
    hidden = other.model.forward(pass, batch, saved);
  }
  if (read.empty()) return {};
  return [this, read](span<const int> rows, Mat<float> logits) mutable {
    vector<Mat<float>> theirs;
    for (auto& [pass, hidden] : read) {
      const Mat<float> h = pass.matrix(logits.rows, hidden.cols);
      for (int i = 0; i < h.rows; ++i) copy_row(hidden, rows[i], h, i);
      theirs.push_back(others[theirs.size()].model.output.forward(pass, h));
    }
    for (int i = 0; i < logits.rows; ++i) average_row(logits, theirs, i);
  };
}

void Predictor::take_weights(Pool& pool) const {
  products.weights_changed(values.data(), values.size(), pool);
  for (const Predictor& other : others) other.take_weights(pool);
}

double Predictor::cache_width() const {
  double width = 2.0 * model.config.decoder_layers * kv_width(model.config);
  for (const Predictor& other : others) width += other.cache_width();
  return width;
}

}  // namespace heed
