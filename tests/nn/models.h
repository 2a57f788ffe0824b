// Small models and batches shared by the tests.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/noise.h"
#include "nn/transformer.h"

namespace heed::test {

enum class Family { encoder_decoder, decoder_only, encoder_only };
constexpr Family kFamilies[] = {Family::encoder_decoder, Family::decoder_only,
                                Family::encoder_only};

// What a test changes in a config.
using Change = std::function<void(ModelConfig&)>;
inline void no_change(ModelConfig&) {}

// Variants of the plain block. Widths are multiples of 4.
inline std::map<std::string, Change> block_variants() {
  const auto grouped = [](ModelConfig& c) {
    c.n_heads = 4;
    c.n_kv_heads = 2;
  };
  return {
      {"rms", [](ModelConfig& c) { c.norm_type = NormType::rms; }},
      {"gated", [](ModelConfig& c) { c.feed_forward = FeedForwardType::gated; }},
      {"attention_only", [](ModelConfig& c) { c.feed_forward = FeedForwardType::none; }},
      {"grouped", grouped},
      {"qk_norm", [](ModelConfig& c) { c.qk_norm = true; }},
      {"no_bias", [](ModelConfig& c) { c.bias = false; }},
      {"modern_rotary",
       [=](ModelConfig& c) {
         grouped(c);
         c.norm_type = NormType::rms;
         c.norm_eps = 1e-3;
         c.feed_forward = FeedForwardType::gated;
         c.activation = Activation::silu;
         c.qk_norm = true;
         c.bias = false;
         c.positions = Positions::rotary;
         c.rope_base = 100;
       }},
  };
}

struct ModelVariant {
  std::string name;
  Family family;
  Change change;
};

inline void PrintTo(const ModelVariant& v, std::ostream* out) {
  *out << v.name;
}

inline std::vector<ModelVariant> of_every_family(const std::map<std::string, Change>& variants) {
  constexpr const char* names[] = {"encdec_", "decoder_", "encoder_"};
  std::vector<ModelVariant> all;
  for (const Family family : kFamilies)
    for (const auto& [name, change] : variants)
      all.push_back({names[static_cast<int>(family)] + name, family, change});
  return all;
}

inline ModelConfig tiny_config(Family family) {
  ModelConfig c;
  c.d_model = 8;
  c.n_heads = 2;
  c.d_ff = 12;
  c.encoder_layers = family == Family::decoder_only ? 0 : 2;
  c.decoder_layers = family == Family::encoder_only ? 0 : 2;
  c.dropout = c.attention_dropout = c.activation_dropout = 0.0;
  c.max_length = 16;
  return c;
}

// Three packed sequences with a row that is not scored, with dropout keys if asked; or only one of
// them.
inline Batch tiny_batch(const Transformer& model, bool dropout, int only = -1) {
  Batch b;
  const int source_lengths[] = {3, 1, 4}, target_lengths[] = {2, 4, 1};
  for (int i = 0; i < 3; ++i) {
    if (only >= 0 && i != only) continue;
    const auto tokens = [&](int n, int vocab, std::uint64_t salt) {
      std::vector<int> ids(n);
      for (int j = 0; j < n; ++j) ids[j] = static_cast<int>(combine(salt, j * 7 + i) % vocab);
      return ids;
    };
    const auto source = tokens(source_lengths[i], model.source_vocab, 1);
    const auto target = tokens(target_lengths[i], model.target_vocab, 2);
    const int rows = model.has_decoder() ? target_lengths[i] : source_lengths[i];
    auto labels = tokens(rows, model.target_vocab, 3);
    if (i == 0) labels[1] = -1;
    b.add(model.has_encoder() ? source : std::vector<int>{},
          model.has_decoder() ? target : std::vector<int>{}, labels,
          dropout ? noise_key(5, Purpose::dropout, 1, i) : 0);
  }
  return b;
}

// A forward pass and what it keeps.
template <class T>
struct Forward {
  const Transformer& model;
  const ParamVec<T>& values;
  const Batch& batch;
  Observer<T>* observer = nullptr;
  Workspace workspace{};
  Pass<T> pass{.values = values, .workspace = workspace, .observer = observer};
  TransformerSaved<T> saved{};
  Mat<T> hidden = model.forward(pass, batch, saved);
};

// Values that leave no tensor at a special point: norms and biases are moved too.
template <class T>
ParamVec<T> lively_values(const Transformer& model, std::uint64_t seed) {
  ParamVec<T> v(model.table.size());
  initialize(model.table, seed, v);
  for (std::size_t i = 0; i < v.size(); ++i)
    v.data()[i] += static_cast<T>(0.2 * (uniform01(seed, i) - 0.5));
  return v;
}

}  // namespace heed::test
