// The architecture: the section `model` of a config. Plain values without checks. fields() below
// lists ranges and documentation; the rules between keys are in data/config_rules.cpp.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "base/std_names.h"
#include "math/activation.h"
#include "math/normalize.h"

namespace heed {

struct Field;

enum class Positions { sinusoidal, learned, rotary, none };
enum class NormPlacement { pre, post };
enum class FeedForwardType { plain, gated, none };
// all: one table for source, target and output. output: the target table is the output layer.
enum class Tie { all, output, none };
enum class Init { xavier_uniform, gpt2 };
// The weights of a projection: trained, the identity, or random and never trained. (Ablations: what
// does each projection contribute?)
enum class Projection { learned, identity, random };

// Ablations of one kind of attention.
struct AttentionConfig {
  bool uniform = false;  // every visible key gets the same weight
  Projection query = Projection::learned;
  Projection key = Projection::learned;
  Projection value = Projection::learned;
  bool scaled = true;     // divide scores by sqrt(d_head)
  bool positions = true;  // rotary: rotate queries and keys
};

struct AttentionKinds {
  AttentionConfig encoder_self, decoder_self, cross;
};

struct ModelConfig {
  int d_model = 128;
  int n_heads = 4;
  int n_kv_heads = 0;  // key and value heads; 0 (not given): as n_heads. Read it with kv_heads().
  int d_ff = 512;
  int encoder_layers = 2;
  int decoder_layers = 2;
  Positions positions = Positions::sinusoidal;
  double rope_base = 10000.0;  // rotary
  NormPlacement norm = NormPlacement::pre;
  NormType norm_type = NormType::layer;
  double norm_eps = 1e-5;
  bool qk_norm = false;  // RMSNorm of queries and keys
  FeedForwardType feed_forward = FeedForwardType::plain;
  Activation activation = Activation::gelu;
  bool bias = true;                  // in linear layers and norms
  double dropout = 0.1;              // embeddings, residual branches
  double attention_dropout = -1.0;   // attention weights; -1 (not given): as dropout
  double activation_dropout = -1.0;  // inside the feed-forward layers; the same
  Tie tie = Tie::all;
  AttentionKinds attention;
  Init init = Init::xavier_uniform;
  bool zero_init = false;  // the last matrix of each residual branch starts at 0
  int max_length = 0;      // longest sequence of one side; 0 (not given): as the objective needs
};

vector<Field> fields(ModelConfig& c);

// n_kv_heads, or n_heads if that is not given.
inline int kv_heads(const ModelConfig& c) {
  return c.n_kv_heads > 0 ? c.n_kv_heads : c.n_heads;
}
// Of a row of keys: kv_heads x d_head.
inline int kv_width(const ModelConfig& c) {
  return kv_heads(c) * (c.d_model / c.n_heads);
}
// The [d_ff, d_model] matrices of a layer: 2, 3 if gated, 0 without feed-forward.
inline int feed_forward_matrices(const ModelConfig& c) {
  return c.feed_forward == FeedForwardType::none    ? 0
         : c.feed_forward == FeedForwardType::gated ? 3
                                                    : 2;
}
inline bool has_dropout(const ModelConfig& c) {
  return max({c.dropout, c.attention_dropout, c.activation_dropout}) > 0;
}
// Clears what does not change the function: equal iff models of equal weights compute the same.
inline ModelConfig without_training(ModelConfig c) {
  c.dropout = c.attention_dropout = c.activation_dropout = 0;
  c.init = Init::xavier_uniform;
  c.zero_init = false;
  c.max_length = 0;
  return c;
}
// The longest sequence that a side can read. Only learned positions have a limit.
inline int most_positions(const ModelConfig& c) {
  return c.positions == Positions::learned ? c.max_length : numeric_limits<int>::max();
}

}  // namespace heed
