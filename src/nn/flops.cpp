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
  const double d = model.config.d_model, ff = model.config.d_ff;
  const double s = batch.source.count(), t = batch.target.count();
  const double layer = 8.0 * d * d + 4.0 * d * ff;  // per row: q, k, v, out; both feed-forward
  double sum = 0;
  for (std::size_t i = 0; i < model.encoder.blocks.size(); ++i)
    sum += s * layer + attention_core(batch.source, batch.source, d);
  for (std::size_t i = 0; i < model.decoder.blocks.size(); ++i) {
    sum += t * layer + attention_core(batch.target, batch.target, d);
    if (model.has_encoder())
      sum += 4.0 * d * d * (s + t) + attention_core(batch.target, batch.source, d);
  }
  return 3.0 * (sum + 2.0 * d * model.target_vocab * batch.scored());
}

}  // namespace heed
