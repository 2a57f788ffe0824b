#include "nn/transformer.h"
#include "base/std_names.h"

#include <cmath>

namespace heed {
namespace {

Param embedding_table(ParamTable& table, const string& name, int vocab, const ModelConfig& config) {
  // Variance 1 / d: sqrt(d) times a row then has variance 1, as do the logits of a tied output.
  const double deviation = config.init == Init::gpt2 ? 0.02 : 1.0 / sqrt(config.d_model);
  return table.add_matrix(name, vocab, config.d_model, {Initializer::normal, deviation});
}

// Q K^T and P V of all sequences and heads.
double attention_core(const Packed& queries, const Packed& keys, double d) {
  double pairs = 0;
  for (int i = 0; i < queries.sequences(); ++i) pairs += double(queries.length(i)) * keys.length(i);
  return 4.0 * pairs * d;
}

}  // namespace

Embeddings::Embeddings(ParamTable& table, const ModelConfig& config, int source_vocab,
                       int target_vocab) {
  const bool has_source = config.encoder_layers > 0, has_target = config.decoder_layers > 0;
  const bool both = has_source && has_target;
  Param s, t;
  if (both && config.tie != Tie::all) {
    s = embedding_table(table, "source_embed.weight", source_vocab, config);
    t = embedding_table(table, "target_embed.weight", target_vocab, config);
  } else {
    s = t = embedding_table(table, "embed_tokens.weight", target_vocab, config);
  }
  if (has_source) source.emplace(table, s, both ? "source_positions" : "positions", config);
  if (has_target) target.emplace(table, t, both ? "target_positions" : "positions", config);
}

Transformer::Transformer(const ModelConfig& config_, int source_vocab_, int target_vocab_)
    : config(config_),
      source_vocab(source_vocab_),
      target_vocab(target_vocab_),
      embeddings(table, config, source_vocab, target_vocab),
      encoder(table, "encoder", config.encoder_layers, AttentionKind::encoder_self, config),
      decoder(table, "decoder", config.decoder_layers, AttentionKind::decoder_self, config),
      output(config.tie == Tie::none
                 ? embedding_table(table, "lm_head.weight", target_vocab, config)
                 : (embeddings.target ? embeddings.target : embeddings.source)->tokens) {}

double training_flops(const Transformer& model, const Batch& batch) {
  const ModelConfig& c = model.config;
  const double d = c.d_model, kv = kv_width(c);
  const double s = batch.source.count(), t = batch.target.count();
  // Per row: q and out, k and v, feed-forward.
  const double layer = 4.0 * d * (d + kv) + 2.0 * d * feed_forward_matrices(c) * c.d_ff;
  double sum = 0;
  for (size_t i = 0; i < model.encoder.blocks.size(); ++i)
    sum += s * layer + attention_core(batch.source, batch.source, d);
  for (size_t i = 0; i < model.decoder.blocks.size(); ++i) {
    sum += t * layer + attention_core(batch.target, batch.target, d);
    if (model.has_encoder())
      sum += 4.0 * d * (d * t + kv * s) + attention_core(batch.target, batch.source, d);
  }
  return 3.0 * (sum + 2.0 * d * model.target_vocab * batch.scored());
}

}  // namespace heed
