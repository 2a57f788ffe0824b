// Small models with lively values, for decoding.
#pragma once

#include "nn/models.h"
#include "text/tokenizer.h"

namespace heed::test {

struct DecodeModel {
  explicit DecodeModel(Family family, Positions positions = Positions::rotary, int vocab = 11,
                       std::uint64_t seed = 1)
      : model(config(family, positions), vocab, vocab), values(lively_values<float>(model, seed)) {
    // Sharper than at the start of training, so that hypotheses differ.
    for (std::size_t i = 0; i < model.output.weight.size(); ++i)
      values.data()[model.output.weight.offset + i] *= 3.0f;
  }
  static ModelConfig config(Family family, Positions positions) {
    ModelConfig c = tiny_config(family);
    c.positions = positions;
    c.tie = Tie::none;
    c.max_length = 32;
    return c;
  }
  Transformer model;
  ParamVec<float> values;
};

// Sources of several lengths, each with its </s>.
inline std::vector<std::vector<int>> some_sources(int n, int vocab) {
  std::vector<std::vector<int>> sources(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 1 + i * 5 % 7; ++j)
      sources[i].push_back(3 + static_cast<int>(combine(i, j) % (vocab - 3)));
    sources[i].push_back(Tokenizer::kEos);
  }
  return sources;
}

}  // namespace heed::test
