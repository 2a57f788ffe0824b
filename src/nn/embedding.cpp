#include "nn/embedding.h"

#include <algorithm>
#include <cmath>

#include "base/noise.h"
#include "math/rows.h"

namespace heed {
namespace {

Dropout dropout(const Embedding& e, const Rows& rows) {
  return {e.rate, rows.row_keys.empty() ? nullptr : rows.row_keys.data(), e.site};
}

}  // namespace

Embedding::Embedding(ParamTable& table, Param tokens_, const std::string& positions_name,
                     const ModelConfig& config)
    : tokens(tokens_),
      kind(config.positions),
      scale(config.positions == Positions::sinusoidal
                ? std::sqrt(static_cast<double>(config.d_model))
                : 1.0),
      rate(config.dropout),
      site(name_key(positions_name)) {
  if (kind == Positions::learned)
    positions = table.add_matrix(positions_name + ".weight", config.max_length, config.d_model,
                                 Fill::normal, 0.02);
}

template <class T>
Mat<T> position_angles(Workspace& workspace, int positions, int d, bool cos_first) {
  const Mat<T> table = workspace.rows<T>(positions, d);
  for (int c = 0; c < d; c += 2) {
    const double frequency = std::pow(10000.0, -static_cast<double>(c) / d);
    for (int p = 0; p < positions; ++p) {
      table(p, c + (cos_first ? 1 : 0)) = static_cast<T>(std::sin(p * frequency));
      if (c + 1 < d) table(p, c + (cos_first ? 0 : 1)) = static_cast<T>(std::cos(p * frequency));
    }
  }
  return table;
}

template <class T>
Mat<T> Embedding::forward(Pass<T>& pass, const Rows& rows) const {
  Timed timed(pass.profile, Work::norms_activations);
  const Mat<const T> table = pass[tokens];
  const Mat<T> y = pass.workspace.template rows<T>(rows.count(), table.cols);
  WorkspaceScope scope(pass.workspace);
  Mat<const T> position;
  if (kind == Positions::learned) position = pass[positions];
  if (kind == Positions::sinusoidal && rows.count() > 0) {
    const int longest = *std::max_element(rows.positions.begin(), rows.positions.end()) + 1;
    position = position_angles<T>(pass.workspace, longest, table.cols, false);
  }
  const T factor = static_cast<T>(scale);
  for (int r = 0; r < y.rows; ++r) {
    const T* __restrict from = table.row(rows.ids[r]);
    T* __restrict to = y.row(r);
    if (position.empty()) {
      for (int c = 0; c < y.cols; ++c) to[c] = factor * from[c];
    } else {
      const T* __restrict add = position.row(rows.positions[r]);
      for (int c = 0; c < y.cols; ++c) to[c] = factor * from[c] + add[c];
    }
  }
  drop_in_place(y, dropout(*this, rows));
  return y;
}

// dtable[id] += scale * drop(d),  dpositions[p] += drop(d)
template <class T>
void Embedding::backward(Pass<T>& pass, const Rows& rows, Mat<T> d) const {
  Timed timed(pass.profile, Work::norms_activations);
  drop_in_place(d, dropout(*this, rows));
  const Mat<T> table = pass.gradient(tokens);
  const T factor = static_cast<T>(scale);
  for (int r = 0; r < d.rows; ++r) {
    const T* __restrict from = d.row(r);
    T* __restrict to = table.row(rows.ids[r]);
    for (int c = 0; c < d.cols; ++c) to[c] += factor * from[c];
    if (kind == Positions::learned) {
      T* __restrict position = pass.gradient(positions).row(rows.positions[r]);
      for (int c = 0; c < d.cols; ++c) position[c] += from[c];
    }
  }
}

#define HEED_INSTANTIATE(T)                                        \
  template Mat<T> position_angles(Workspace&, int, int, bool);     \
  template Mat<T> Embedding::forward(Pass<T>&, const Rows&) const; \
  template void Embedding::backward(Pass<T>&, const Rows&, Mat<T>) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
