#include "config/model_config.h"

#include <limits>

#include "config/fields.h"

namespace heed {
namespace {

Choice projection(Projection& p) {
  return choice(p, {"learned", "identity", "random"});
}

std::vector<Field> fields(AttentionConfig& c) {
  return {
      {"uniform", &c.uniform, "every visible position gets the same weight"},
      {"query", projection(c.query), "W_Q: trained, the identity, or random and never trained"},
      {"key", projection(c.key), "the same for W_K"},
      {"value", projection(c.value), "the same for W_V"},
      {"scaled", &c.scaled, "divide scores by sqrt(d_head)"},
      {"positions", &c.positions,
       "false: self-attention without rotary positions, which sees a bag of words; "
       "cross-attention never has them, so only true is allowed there"},
  };
}

std::vector<Field> fields(AttentionKinds& c) {
  return {
      {"encoder_self", fields(c.encoder_self), "self-attention of the encoder"},
      {"decoder_self", fields(c.decoder_self), "self-attention of the decoder"},
      {"cross", fields(c.cross), "attention of the decoder to the encoder's output"},
  };
}

}  // namespace

std::vector<Field> fields(ModelConfig& c) {
  return {
      {"d_model", &c.d_model, "width of the model", between(1, 65'536)},
      {"n_heads", &c.n_heads, "attention heads of a layer; divides d_model", between(1, 1'024)},
      {"d_ff", &c.d_ff, "width of the feed-forward layers", between(1, 1'000'000)},
      {"encoder_layers", &c.encoder_layers, "0 = decoder only", between(0, 1'000)},
      {"decoder_layers", &c.decoder_layers, "0 = encoder only", between(0, 1'000)},
      {"positions", choice(c.positions, {"sinusoidal", "learned", "rotary", "none"}),
       "how the model encodes the position of a token"},
      {"norm", choice(c.norm, {"pre", "post"}),
       "layer normalisation before each part of a layer, or after the residual sum"},
      {"activation", choice(c.activation, {"relu", "gelu", "silu"}),
       "activation of the feed-forward layers"},
      {"dropout", &c.dropout, "on embeddings, residual branches and feed-forward layers",
       kFraction},
      {"attention_dropout", &c.attention_dropout, "on attention weights", kFraction,
       OnResume::refused, "as model.dropout"},
      {"tie", choice(c.tie, {"all", "output", "none"}),
       "all: one table for source, target and output; output: the target table is the output "
       "layer; none: each its own"},
      {"attention", fields(c.attention), "ablations: remove a part of attention"},
      {"init", choice(c.init, {"xavier_uniform", "gpt2"}), "initial values of the weights"},
      {"max_length", &c.max_length, "the longest sequence of one side, in tokens",
       between(1, 10'000'000), OnResume::refused, "what the objective needs"},
  };
}

int most_positions(const ModelConfig& c) {
  return c.positions == Positions::learned ? c.max_length : std::numeric_limits<int>::max();
}

}  // namespace heed
