// The architecture: the section `model` of a config. Plain values without checks. fields() below
// lists ranges and documentation; the rules between keys are in data/config_rules.h.
#pragma once

#include <vector>

#include "math/activation.h"

namespace heed {

struct Field;

enum class Positions { sinusoidal, learned, rotary, none };
enum class NormPlacement { pre, post };
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
  int d_ff = 512;
  int encoder_layers = 2;
  int decoder_layers = 2;
  Positions positions = Positions::sinusoidal;
  NormPlacement norm = NormPlacement::pre;
  Activation activation = Activation::gelu;
  double dropout = 0.1;             // embeddings, residual branches, feed-forward
  double attention_dropout = -1.0;  // attention weights; -1 (not given): as dropout
  Tie tie = Tie::all;
  AttentionKinds attention;
  Init init = Init::xavier_uniform;
  int max_length = 0;  // longest sequence of one side; 0 (not given): as the objective needs
};

std::vector<Field> fields(ModelConfig& c);

// The longest sequence that one side can read. Only learned positions have a limit.
int most_positions(const ModelConfig& c);

}  // namespace heed
