// Embeddings of tokens and positions: y = drop(scale * table[id] + position).
// Sinusoidal positions (Vaswani et al. 2017, section 3.5) are computed, learned ones are a second
// table. Rotary ones are applied inside attention, and nothing is added here.
//
// To add a kind: a name in Positions (config/model_config.h and .cpp), its rules in
// data/config_rules.cpp, its branch here if it is added to the embedding, else in Stack
// (nn/block.h) and nn/attention (rotate_both); beside them show/web/model.js, show/explain.cpp and
// store/huggingface.cpp know it.
#pragma once

#include <string>

#include "base/std_names.h"
#include "config/model_config.h"
#include "math/row_ops.h"
#include "nn/linear.h"

namespace heed {

struct Embedding {
  Param tokens;     // [vocab, d]
  Param positions;  // [max_length, d], learned only
  Positions kind = Positions::none;
  double scale = 1.0;  // sqrt(d_model) with sinusoidal positions
  double rate = 0.0;
  uint64_t dropout_id = 0;

  // The caller makes `tokens`, because it may be shared.
  Embedding(ParamTable& table, Param tokens, const string& positions_name,
            const ModelConfig& config);

  // rows.ids -> [rows, d]
  template <class T>
  Mat<T> forward(Pass<T>& pass, const Packed& rows) const;
  // d [rows, d] is overwritten.
  template <class T>
  void backward(Pass<T>& pass, const Packed& rows, Mat<T> d) const;
};

// From the lowest of these positions to the highest. Row p: sin(p / base^(2i/width)) at 2i, cos of
// the same at 2i + 1; `cos_first` swaps the two (rotary positions).
template <class T>
Angles<T> position_angles(Workspace& workspace, const vector<int>& positions, int width,
                          double base = 10000.0, bool cos_first = false);

}  // namespace heed
