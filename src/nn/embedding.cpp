#include "nn/embedding.h"

#include <algorithm>
#include <cmath>

#include "base/noise.h"
#include "base/std_names.h"
#include "math/dropout.h"
#include "math/lanes.h"
#include "math/row_ops.h"

namespace heed {

Embedding::Embedding(ParamTable& table, Param tokens_, const string& positions_name,
                     const ModelConfig& config)
    : tokens(tokens_),
      kind(config.positions),
      scale(config.positions == Positions::sinusoidal ? sqrt(double(config.d_model)) : 1.0),
      rate(config.dropout),
      dropout_id(name_key(positions_name)) {
  if (kind == Positions::learned)
    positions = table.add_matrix(positions_name + ".weight", config.max_length, config.d_model,
                                 {Initializer::normal, 0.02});
}

template <class T>
Angles<T> position_angles(Workspace& workspace, const vector<int>& positions, int width,
                          double base, bool cos_first) {
  if (positions.empty()) return {};
  const auto [low, high] = ranges::minmax(positions);
  const Mat<T> table = workspace.matrix<T>(high - low + 1, width);
  for (int c = 0; c < width; c += 2) {
    const double frequency = pow(base, -double(c) / width);
    for (int p = 0; p < table.rows; ++p) {
      const double angle = (low + p) * frequency;
      table(p, c + (cos_first ? 1 : 0)) = T(std::sin(angle));
      if (c + 1 < width) table(p, c + (cos_first ? 0 : 1)) = T(std::cos(angle));
    }
  }
  return {table, low};
}

template <class T>
Mat<T> Embedding::forward(Pass<T>& pass, const Packed& rows) const {
  const Mat<const T> table = pass[tokens];
  const Mat<T> y = pass.matrix(rows.count(), table.cols);
  WorkspaceScope scope(pass.workspace);
  Angles<T> position;
  if (kind == Positions::learned) position.table = pass[positions];
  if (kind == Positions::sinusoidal)
    position = position_angles<T>(pass.workspace, rows.positions, table.cols);
  const T factor = T(scale);
  for_rows<T>(y.rows, rows.dropout(rate, dropout_id), [&](int r, auto mask) {
    const T* __restrict from = table.row(rows.ids[r]);
    T* __restrict to = y.row(r);
    if (position.table.empty()) {
      for (int c = 0; c < y.cols; ++c) to[c] = mask(c) * (factor * from[c]);
    } else {
      const T* __restrict add = position.of(rows.positions[r]);
      for (int c = 0; c < y.cols; ++c) to[c] = mask(c) * fuse(factor, from[c], add[c]);
    }
  });
  return y;
}

// dtable[id] += scale * drop(d),  dpositions[p] += drop(d)
template <class T>
void Embedding::backward(Pass<T>& pass, const Packed& rows, Mat<T> d) const {
  const Mat<T> table = pass.gradient(tokens);
  const T factor = T(scale);
  for_rows<T>(d.rows, rows.dropout(rate, dropout_id), [&](int r, auto mask) {
    T* __restrict from = d.row(r);
    T* __restrict to = table.row(rows.ids[r]);
    for (int c = 0; c < d.cols; ++c) {
      from[c] *= mask(c);
      to[c] = fuse(factor, from[c], to[c]);
    }
    if (kind == Positions::learned) {
      T* __restrict position = pass.gradient(positions).row(rows.positions[r]);
      for (int c = 0; c < d.cols; ++c) position[c] += from[c];
    }
  });
}

#define HEED_INSTANTIATE(T)                                                              \
  template Angles<T> position_angles(Workspace&, const vector<int>&, int, double, bool); \
  template Mat<T> Embedding::forward(Pass<T>&, const Packed&) const;                     \
  template void Embedding::backward(Pass<T>&, const Packed&, Mat<T>) const;
HEED_FLOAT_AND_DOUBLE(HEED_INSTANTIATE)
#undef HEED_INSTANTIATE

}  // namespace heed
