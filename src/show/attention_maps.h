// The attention weights of one forward pass, and the contributions of the keys: what heed attend
// prints, and what a film's frames keep (show/film.h), which are the report's maps. (The
// live page computes its own: web/model.js.)
//
// Weights are those of a forward pass in float32, without dropout: row q of a head sums to 1, and
// masked positions are exactly 0. A weight alone does not say how much a token contributes, since
// its value may be long or short. The contribution of key k to query q through head h,
//
//   || p_h(q, k) v_h(k) W_o,hᵀ || = p_h(q, k) || v_h(k) W_o,hᵀ ||,   W_o,h: head h's columns of W_o
//
// is the length of the vector that this head takes from k and adds to q's row (Kobayashi et al.
// 2020, "Attention is Not Only a Weight"). It is stored as the length for weight 1,
// [layer][head][key].
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "data/objective.h"
#include "nn/transformer.h"
#include "store/model.h"

namespace heed {

// Which heads to look at.
struct HeadChoice {
  string kind = "all";
  int layer = -1, head = -1;  // -1: all
  bool any() const { return kind != "all" || layer >= 0 || head >= 0; }
  bool has(string_view k) const { return kind == "all" || kind == k; }
  bool has(string_view k, int64_t l, int64_t h) const {
    return has(k) && (layer < 0 || layer == l) && (head < 0 || head == h);
  }
};

// The heads of one kind of attention. Owns its numbers; empty if the model has no such kind.
struct AttentionMap {
  AttentionKind kind{};
  int layers = 0, heads = 0, queries = 0, keys = 0;
  vector<float> weights;     // [layer][head][query][key]
  vector<float> lengths;     // [layer][head][key] || v_h(k) W_o,hᵀ ||, or none
  vector<double> pull = {};  // [layer][head][query][key] (show/pull.h); empty: not asked for
  vector<double> value_gradient = {};  // [layer][key/value head][key][d_head], or none

  bool empty() const { return layers == 0; }
  size_t begin(int layer, int head) const {  // of its weights
    return (size_t(layer) * heads + head) * queries * keys;
  }
  Mat<float> head(int l, int h) { return {weights.data() + begin(l, h), queries, keys}; }
  Mat<const float> head(int l, int h) const {
    return {weights.data() + begin(l, h), queries, keys};
  }
  Mat<const double> pulls(int l, int h) const { return {pull.data() + begin(l, h), queries, keys}; }
};

using AttentionMaps = array<AttentionMap, 3>;  // by AttentionKind
// Calls body(map, layer, head) for the chosen heads of the maps.
template <class Body>
void for_heads(const AttentionMaps& maps, const HeadChoice& choice, Body&& body) {
  for (const AttentionMap& map : maps)
    for (int layer = 0; layer < map.layers; ++layer)
      for (int head = 0; head < map.heads; ++head)
        if (choice.has(attention_name(map.kind), layer, head)) body(map, layer, head);
}
// The side of an input where the queries of a kind are, and that of its keys: the ids of an
// Example, the tokens of an InputTokens.
template <class Input>
const auto& queries_of(const Input& input, AttentionKind kind) {
  return kind == AttentionKind::encoder_self ? input.source : input.target;
}
template <class Input>
const auto& keys_of(const Input& input, AttentionKind kind) {
  return kind == AttentionKind::decoder_self ? input.target : input.source;
}

int attention_layers(const ModelConfig& model, AttentionKind kind);

// Maps of zeros, with room for lengths or without.
AttentionMaps empty_maps(const Transformer& model, const Example& input, bool lengths = false);

// The weights, and lengths if asked for. `input` must fit the model: not empty and not too long.
// The workspace is rewound.
AttentionMaps attention_maps(const Transformer& model, const ParamVec<float>& values,
                             const Example& input, Workspace& workspace, bool lengths = false);
// In the place of the weights of maps that have lengths: the contributions.
AttentionMaps contributions(AttentionMaps maps);

// Both sides of an input as readable tokens, one string per id.
struct InputTokens {
  vector<string> source, target;
};
InputTokens input_tokens(const Example& input, const Tokenizers& tokenizers);

}  // namespace heed
