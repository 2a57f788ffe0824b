// Operations of a step, against a count from the shapes of the tensors.
#include "nn/transformer.h"

#include <gtest/gtest.h>

#include "nn/models.h"

namespace heed {
namespace {

using test::Family;

// Every matrix of a layer is used once per row of what it reads: keys and values of cross-attention
// read the source, everything else of a decoder the target.
double count(const Transformer& model, const Batch& batch) {
  const double s = batch.source.count(), t = batch.target.count();
  double sum = 0;
  for (const ParamInfo& info : model.table.infos()) {
    const std::string& name = info.name;
    if (info.vector || name.find("layers") == std::string::npos) continue;
    const bool of_source = name.starts_with("encoder") || name.find("cross_attn.k") != name.npos ||
                           name.find("cross_attn.v") != name.npos;
    sum += 2.0 * static_cast<double>(info.param.size()) * (of_source ? s : t);
  }
  const auto pairs = [](const Packed& queries, const Packed& keys) {
    double n = 0;
    for (int i = 0; i < queries.sequences(); ++i) n += 1.0 * queries.length(i) * keys.length(i);
    return n;
  };
  double core = 0;  // two products for each pair
  if (model.has_encoder()) core += pairs(batch.source, batch.source);
  if (model.has_decoder()) core += pairs(batch.target, batch.target);
  if (model.has_encoder() && model.has_decoder()) core += pairs(batch.target, batch.source);
  sum += 2 * 4.0 * core * model.config.d_model;  // two layers
  return 3 * (sum + 2.0 * model.config.d_model * model.target_vocab * batch.scored());
}

TEST(Flops, CountEveryMatrixAndBothProductsOfAttention) {
  auto variants = test::block_variants();
  variants["plain"] = test::no_change;
  for (const auto& [name, change] : variants)
    for (const Family family :
         {Family::encoder_decoder, Family::decoder_only, Family::encoder_only}) {
      ModelConfig config = test::tiny_config(family);
      change(config);
      const Transformer model(config, 7, 7);
      const Batch batch = test::tiny_batch(model, false);
      EXPECT_DOUBLE_EQ(training_flops(model, batch), count(model, batch)) << name;
    }
}

}  // namespace
}  // namespace heed
