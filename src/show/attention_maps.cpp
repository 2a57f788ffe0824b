#include "show/attention_maps.h"
#include "base/std_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

class Recorder : public Observer<float> {
 public:
  Recorder(const ParamVec<float>& values, AttentionMaps& maps) : values_(values), maps_(maps) {}

  void on_head(const Attention& a, int number, const AttentionHead<float>& head) override {
    AttentionMap& map = maps_[size_t(a.kind)];
    const Mat<float> to = map.head(a.layer, number);
    for (int q = 0; q < to.rows; ++q) std::copy_n(head.p.row(q), to.cols, to.row(q));
    if (map.lengths.empty()) return;
    const auto out = values_[a.out.weight].part(number, a.d_head());
    float* lengths = map.lengths.data() + map.begin(a.layer, number) / to.rows;
    for (int k = 0; k < to.cols; ++k) lengths[k] = length(out, head.v.row(k));
  }

 private:
  // || W v ||
  static float length(Mat<const float> w, const float* v) {
    double sum = 0;
    for (int r = 0; r < w.rows; ++r) {
      double dot = 0;
      for (int c = 0; c < w.cols; ++c) dot += double(w(r, c)) * v[c];
      sum += dot * dot;
    }
    return float(sqrt(sum));
  }

  const ParamVec<float>& values_;
  AttentionMaps& maps_;
};

}  // namespace

int attention_layers(const ModelConfig& model, AttentionKind kind) {
  if (kind == AttentionKind::encoder_self) return model.encoder_layers;
  return kind == AttentionKind::cross && model.encoder_layers == 0 ? 0 : model.decoder_layers;
}

AttentionMaps empty_maps(const Transformer& model, const Example& input, bool lengths) {
  AttentionMaps maps;
  for (const AttentionKind kind : kAttentionKinds) {
    AttentionMap& map = maps[size_t(kind)];
    map.kind = kind;
    map.layers = attention_layers(model.config, kind);
    map.heads = model.config.n_heads;
    map.queries = int(queries_of(input, kind).size());
    map.keys = int(keys_of(input, kind).size());
    map.weights.resize(map.begin(map.layers, 0));
    if (lengths) map.lengths.resize(size_t(map.layers) * map.heads * map.keys);
  }
  return maps;
}

AttentionMaps attention_maps(const Transformer& model, const ParamVec<float>& values,
                             const Example& input, Workspace& workspace, bool lengths) {
  AttentionMaps maps = empty_maps(model, input, lengths);
  Batch batch;
  batch.add(input);
  Recorder recorder(values, maps);
  WorkspaceScope scope(workspace);
  Pass<float> pass{
      .values = values, .workspace = workspace, .forward_only = true, .observer = &recorder};
  TransformerSaved<float> saved;
  require_finite(model.forward(pass, batch, saved));
  return maps;
}

AttentionMaps contributions(AttentionMaps maps) {
  for (AttentionMap& map : maps)
    for (size_t i = 0; i < map.weights.size(); ++i)
      map.weights[i] *= map.lengths[i / map.queries / map.keys * map.keys + i % map.keys];
  return maps;
}

InputTokens input_tokens(const Example& input, const Tokenizers& tokenizers) {
  return {tokenizers.source().pieces(input.source), tokenizers.target->pieces(input.target)};
}

}  // namespace heed
