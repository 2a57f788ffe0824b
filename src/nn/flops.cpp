#include "nn/flops.h"

namespace heed {
namespace {

// Q K^T and P V of all sequences and heads.
double attention_core(const Packed& queries, const Packed& keys, double d) {
  double pairs = 0;
  for (int i = 0; i < queries.sequences(); ++i)
    pairs += static_cast<double>(queries.length(i)) * keys.length(i);
  return 4.0 * pairs * d;
}

}  // namespace

double training_flops(const Transformer& model, const Batch& batch) {
  const ModelConfig& c = model.config;
  const double d = c.d_model, kv = kv_width(c);
  const double s = batch.source.count(), t = batch.target.count();
  // Per row: q and out, k and v, feed-forward.
  const double layer = 4.0 * d * (d + kv) + 2.0 * d * feed_forward_matrices(c) * c.d_ff;
  double sum = 0;
  for (std::size_t i = 0; i < model.encoder.blocks.size(); ++i)
    sum += s * layer + attention_core(batch.source, batch.source, d);
  for (std::size_t i = 0; i < model.decoder.blocks.size(); ++i) {
    sum += t * layer + attention_core(batch.target, batch.target, d);
    if (model.has_encoder())
      sum += 4.0 * d * (d * t + kv * s) + attention_core(batch.target, batch.source, d);
  }
  return 3.0 * (sum + 2.0 * d * model.target_vocab * batch.scored());
}

}  // namespace heed
