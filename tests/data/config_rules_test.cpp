// Rules between the keys of a config, and the defaults of missing keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/configs.h"
#include "data/run_config.h"

namespace heed {
namespace {

using testing::HasSubstr;

TEST(ConfigRules, RulesBetweenKeys) {
  const Sets kDecoder = {"model.encoder_layers=0", "objective.type=causal_lm"};
  const std::tuple<const char*, Sets, std::string> cases[] = {
      {"{}", {}, "no data: expected data.train (text)"},
      {kTextConfig, {"data.pairs=b"}, "exclude each other; found train pairs"},
      {kTextConfig,
       {"data.source=b", "data.target=c"},
       "exclude each other; found train source/target"},
      {"{}", {"data.source=b"}, "data.source and data.target belong together; data.target is"},
      {"{}", {"data.target=b"}, "data.source is missing"},
      {kPairsConfig, {"data.valid_source=b"}, "data.valid_target is missing"},
      {kPairsConfig, {"data.valid=b"}, "data.valid goes with data.train"},
      {kTextConfig, {"data.valid_pairs=b"}, "held-out text is data.valid"},
      {kPairsConfig,
       {"data.valid_pairs=b", "data.valid_source=c", "data.valid_target=d"},
       "exclude each other"},
      {kTextConfig, {"data.valid=b", "data.valid_fraction=0.2"}, "data.valid_fraction exclude"},
      {kTextConfig, {"model.n_heads=3"}, "model.n_heads must divide model.d_model; found 3 heads"},
      {kTextConfig,
       {"model.n_kv_heads=3"},
       "model.n_kv_heads must divide model.n_heads; found 3 for 4"},
      {kTextConfig,
       {"model.n_kv_heads=8"},
       "model.n_kv_heads must divide model.n_heads; found 8 for 4"},
      {kTextConfig,
       {"model.n_kv_heads=2", "model.attention.cross.key=identity"},
       "model.attention.cross.key can be the identity only where every head of queries has its "
       "own; found model.n_kv_heads 2 for 4 heads"},
      {kTextConfig,
       {"model.n_kv_heads=1", "model.attention.encoder_self.value=identity"},
       "model.attention.encoder_self.value can be the identity only"},
      {kTextConfig,
       {"model.n_kv_heads=1", "model.attention.decoder_self.key=identity"},
       "model.attention.decoder_self.key can be the identity only"},
      {kTextConfig, {"model.rope_base=500"}, "model.rope_base is for rotary positions"},
      {kTextConfig, {"model.d_model=12", "model.positions=rotary"}, "must be even; found 3"},
      {kTextConfig,
       {"model.attention.decoder_self.positions=false"},
       "takes rotary positions away"},
      {kTextConfig,
       {"model.attention.cross.positions=false"},
       "cross-attention never has positions"},
      {kTextConfig, {"model.d_model=9", "model.n_heads=3"}, "model.d_model must be even; found 9"},
      {kTextConfig,
       {"model.encoder_layers=0"},
       "prefix_lm needs model.encoder_layers of at least 1"},
      {kTextConfig,
       {"model.decoder_layers=0"},
       "prefix_lm needs model.decoder_layers of at least 1"},
      {kPairsConfig,
       {"model.encoder_layers=0"},
       "seq2seq needs model.encoder_layers of at least 1"},
      {kTextConfig,
       {"objective.type=causal_lm"},
       "causal_lm needs model.encoder_layers 0; found 2"},
      {kTextConfig,
       {"objective.type=masked_lm"},
       "masked_lm needs model.decoder_layers 0; found 2"},
      {kTextConfig,
       {"objective.type=span_corruption", "model.decoder_layers=0"},
       "span_corruption needs model.decoder_layers of at least 1"},
      {kTextConfig,
       {"objective.type=span_corruption", "objective.source_length=100000",
        "objective.mask_fraction=0.9", "objective.mean_span=1"},
       "needs 90001 special tokens for these lengths; a tokenizer has at most 10000"},
      {kTextConfig,
       {"objective.mean_span=4"},
       "no meaning here, because objective.type is prefix_lm"},
      {kTextConfig,
       {"objective.type=seq2seq"},
       "seq2seq learns from pairs, but data.train is text"},
      {kPairsConfig,
       {"objective.type=prefix_lm"},
       "prefix_lm learns from text, but data.pairs gives"},
      {kPairsConfig, {"tokenizer.shared=false"}, "model.tie all needs one vocabulary"},
      {kTextConfig, {"tokenizer.shared=false"}, "tokenizer.shared false needs pairs"},
      {kPairsConfig,
       {"tokenizer.shared=false", "model.tie=none", "tokenizer.file=v"},
       "tokenizer.file is one vocabulary"},
      {kTextConfig,
       {"tokenizer.file=v", "tokenizer.vocab_size=9"},
       "vocab_size has no meaning here, because tokenizer.file gives the vocabulary"},
      {kTextConfig,
       {"tokenizer.type=byte", "tokenizer.file=v"},
       "because tokenizer.type is byte, which needs no vocabulary"},
      {kTextConfig,
       {"tokenizer.punctuation=split"},
       "punctuation has no meaning here, because tokenizer.type is char"},
      {kTextConfig, {"optimizer.schedule=noam", "optimizer.warmup_steps=0"}, "noam needs"},
      {kTextConfig,
       {"optimizer.min_learning_rate=1"},
       "must not be greater than optimizer.learning_rate"},
      {kTextConfig,
       {"optimizer.type=adam", "optimizer.weight_decay=0.1"},
       "optimizer.weight_decay has no meaning here, because optimizer.type is adam"},
      {kTextConfig, {"train.max_steps=0"}, "the run would never end"},
      {kTextConfig, {"train.max_steps=0", "train.max_minutes=3"}, "needs optimizer.decay_steps"},
      {kTextConfig, {"train.select_by=bleu"}, "train.select_by bleu needs objective.type seq2seq"},
      {kPairsConfig, {"train.select_by=bleu", "data.valid_fraction=0"}, "needs held-out data"},
      {kTextConfig,
       {"train.patience=3", "data.valid_fraction=0"},
       "train.patience needs held-out data"},
      {kTextConfig, {"model.max_length=10"}, "model.max_length must be at least 64"},
      {kPairsConfig, {"model.max_length=10"}, "model.max_length must be at least 257"},
  };
  for (const auto& [text, sets, message] : cases)
    EXPECT_THAT(config_error(text, sets), HasSubstr(message)) << testing::PrintToString(sets);
  EXPECT_EQ(config_error(kTextConfig, kDecoder), "");
}

TEST(ConfigRules, EpochsAloneAreNoSteps) {
  EXPECT_EQ(config({"train.max_epochs=2"}).train.max_steps, 0);
  EXPECT_EQ(config({"train.max_epochs=2"}).optimizer.decay_steps, 0);  // with the data
  EXPECT_EQ(config({"train.max_epochs=2", "train.max_steps=7"}).train.max_steps, 7);
  EXPECT_EQ(config({"train.max_epochs=0"}).train.max_steps, 1000);
}

TEST(ConfigRules, WhatWasLeftOpenFollowsFromTheRest) {
  const RunConfig c = config({"model.dropout=0.3", "train.max_steps=77"});
  EXPECT_EQ(c.model.attention_dropout, 0.3);
  EXPECT_EQ(c.model.activation_dropout, 0.3);
  EXPECT_EQ(c.model.n_kv_heads, 4);
  EXPECT_EQ(c.optimizer.decay_steps, 77);
  EXPECT_EQ(c.optimizer.weight_decay, 0.01);
  EXPECT_EQ(c.model.max_length, 64);
  EXPECT_EQ(config({"model.attention_dropout=0"}).model.attention_dropout, 0.0);
  EXPECT_EQ(config({"model.activation_dropout=0"}).model.activation_dropout, 0.0);
  EXPECT_EQ(config({"optimizer.type=sgd"}).optimizer.weight_decay, 0.0);
  EXPECT_EQ(config({"optimizer.type=sgd"}).optimizer.momentum, 0.0);
  EXPECT_EQ(config({"optimizer.type=muon"}).optimizer.weight_decay, 0.01);
  EXPECT_EQ(config({"optimizer.type=muon"}).optimizer.momentum, 0.95);
  EXPECT_EQ(config({"data.valid=b"}).data.valid_fraction, 0.0);
  EXPECT_EQ(config({"data.max_length=30"}, kPairsConfig).model.max_length, 31);
}

}  // namespace
}  // namespace heed
