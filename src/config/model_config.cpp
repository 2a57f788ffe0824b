#include "config/model_config.h"

#include "base/std_names.h"
#include "config/fields.h"

namespace heed {
namespace {

Choice projection(Projection& p) {
  return choice(p, {"learned", "identity", "random"});
}

// `turned`: where it has rotary positions.
vector<Field> fields(AttentionConfig& c, const When& turned) {
  const When scored{"attention that is not uniform", c.uniform ? "uniform is true there" : ""};
  return {
      {"uniform", &c.uniform, "every visible position gets the same weight"},
      {"query", projection(c.query), "W_Q: trained, the identity, or random and never trained"},
      {"key", projection(c.key), "the same for W_K"},
      {"value", projection(c.value), "the same for W_V"},
      only(scored, {"scaled", &c.scaled, "divide scores by sqrt(d_head)"}),
      only(scored, only(turned, {"positions", &c.positions,
                                 "false: without rotary positions, which sees a bag of words"})),
  };
}

When layers(const string& key, int layers) {
  return {key + " above 0", layers > 0 ? "" : key + " is 0"};
}

vector<Field> fields(ModelConfig& m, const When& rotary) {
  const When encoder = layers("model.encoder_layers", m.encoder_layers),
             decoder = layers("model.decoder_layers", m.decoder_layers),
             none{"self-attention", "cross-attention never has positions"};
  AttentionKinds& c = m.attention;
  return {
      {"encoder_self", only(encoder, fields(c.encoder_self, rotary)),
       "self-attention of the encoder"},
      {"decoder_self", only(decoder, fields(c.decoder_self, rotary)),
       "self-attention of the decoder"},
      {"cross", only(encoder, only(decoder, fields(c.cross, none))),
       "attention of the decoder to the encoder's output"},
  };
}

}  // namespace

vector<Field> fields(ModelConfig& c) {
  const Choice positions = choice(c.positions, {"sinusoidal", "learned", "rotary", "none"});
  const When rotary = among("model.positions", positions, {"rotary"}),
             feeds_forward{"model.feed_forward plain, gated",
                           feed_forward_matrices(c) > 0 ? "" : "model.feed_forward is none"};
  return {
      {"d_model", &c.d_model, "width of the model", between(1, 65'536)},
      {"n_heads", &c.n_heads, "attention heads per layer; must divide d_model", between(1, 1'024)},
      {"n_kv_heads", &c.n_kv_heads, "key/value heads; each serves n_heads / n_kv_heads query heads",
       between(1, 1'024), OnResume::refused, "as model.n_heads"},
      only(feeds_forward,
           {"d_ff", &c.d_ff, "width of the feed-forward layers", between(1, 1'000'000)}),
      {"encoder_layers", &c.encoder_layers, "0 = decoder only", between(0, 1'000)},
      {"decoder_layers", &c.decoder_layers, "0 = encoder only", between(0, 1'000)},
      {"positions", positions, "how the model encodes the position of a token"},
      only(rotary,
           {"rope_base", &c.rope_base,
            "pair i of a head turns by position * rope_base^(-2i / d_head)", between(1, 1e12)}),
      {"norm", choice(c.norm, {"pre", "post"}),
       "normalisation before each sublayer, or after the residual sum"},
      {"norm_type", choice(c.norm_type, {"layer", "rms"}),
       "LayerNorm, or RMSNorm (without mean and bias)"},
      {"norm_eps", &c.norm_eps, "added to the variance (rms, qk_norm: to the mean square)",
       above(0, 1)},
      {"qk_norm", &c.qk_norm, "RMSNorm of each head's queries and keys, before rotary positions"},
      {"feed_forward", choice(c.feed_forward, {"plain", "gated", "none"}),
       "plain: fc2(f(fc1 x)); gated: fc2(f(fc_gate x) * fc1 x), three matrices of width d_ff; "
       "none: attention-only layers"},
      only(feeds_forward,
           {"activation", choice(c.activation, {"relu", "gelu", "silu", "relu2", "gelu_tanh"}),
            "f of the feed-forward layers; relu2: relu squared; gelu_tanh: gelu as in GPT-2"}),
      {"bias", &c.bias, "biases in linear layers and norms"},
      {"dropout", &c.dropout, "on embeddings and residual branches", kFraction},
      {"attention_dropout", &c.attention_dropout, "on attention weights", kFraction,
       OnResume::refused, "as model.dropout"},
      only(feeds_forward, {"activation_dropout", &c.activation_dropout,
                           "on the activations of feed-forward layers", kFraction,
                           OnResume::refused, "as model.dropout"}),
      {"tie", choice(c.tie, {"all", "output", "none"}),
       "all: one table for source, target and output; output: the target table is the output "
       "layer (the default of two vocabularies); none: separate tables"},
      {"attention", fields(c, rotary), "ablations: remove a part of attention"},
      {"init", choice(c.init, {"xavier_uniform", "gpt2"}), "initial values of the weights"},
      {"zero_init", &c.zero_init,
       "the last matrix of each residual branch starts at 0, so the branch adds nothing at first"},
      {"max_length", &c.max_length, "the longest sequence of one side, in tokens",
       between(1, 10'000'000), OnResume::refused, "what the objective needs"},
  };
}

}  // namespace heed
