// Rules between the keys of a config, and the defaults of missing keys.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/configs.h"
#include "data/run_config.h"

namespace heed {
namespace {

TEST(ConfigRules, RulesBetweenKeys) {
  const Sets kDecoder = {"model.encoder_layers=0", "objective.type=causal_lm"};
  // The config, changes of it, and the facts of the refusal.
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"{}", "", "data.train"},
      {kTextConfig, "data.pairs=b", "data.train data.pairs"},
      {kTextConfig, "data.source=b data.target=c", "data.train data.source"},
      {"{}", "data.source=b", "data.source data.target"},
      {"{}", "data.target=b", "data.source"},
      {kPairsConfig, "data.valid_source=b", "data.valid_target"},
      {kPairsConfig, "data.valid=b", "data.valid data.train"},
      {kTextConfig, "data.valid_pairs=b", "data.valid_pairs data.valid"},
      {kPairsConfig, "data.valid_pairs=b data.valid_source=c data.valid_target=d",
       "data.valid_pairs data.valid_source"},
      {kTextConfig, "data.valid=b data.valid_fraction=0.2", "data.valid_fraction"},
      {kTextConfig, "model.n_heads=3", "model.n_heads model.d_model 3"},
      {kTextConfig, "model.n_kv_heads=3", "model.n_kv_heads model.n_heads 3 4"},
      {kTextConfig, "model.n_kv_heads=8", "model.n_kv_heads model.n_heads 8 4"},
      {kTextConfig, "model.n_kv_heads=2 model.attention.cross.key=identity",
       "model.attention.cross.key model.n_kv_heads 2 4"},
      {kTextConfig, "model.n_kv_heads=1 model.attention.encoder_self.value=identity",
       "model.attention.encoder_self.value"},
      {kTextConfig, "model.n_kv_heads=1 model.attention.decoder_self.key=identity",
       "model.attention.decoder_self.key"},
      {kTextConfig, "model.rope_base=500", "model.rope_base rotary"},
      {kTextConfig, "model.d_model=12 model.positions=rotary", "rotary 3"},
      {kTextConfig, "model.attention.decoder_self.positions=false", "rotary"},
      {kTextConfig, "model.attention.cross.positions=false", ""},
      {kTextConfig, "model.d_model=9 model.n_heads=3", "model.d_model 9"},
      {kTextConfig, "model.encoder_layers=0", "prefix_lm model.encoder_layers 1"},
      {kTextConfig, "model.decoder_layers=0", "prefix_lm model.decoder_layers 1"},
      {kPairsConfig, "model.encoder_layers=0 tokenizer.shared=false model.tie=none",
       "tokenizer.shared model.encoder_layers"},
      {kPairsConfig, "model.decoder_layers=0", "seq2seq model.decoder_layers 1"},
      {kTextConfig, "objective.type=causal_lm", "causal_lm model.encoder_layers 0 2"},
      {kTextConfig, "objective.type=masked_lm", "masked_lm model.decoder_layers 0 2"},
      {kTextConfig, "objective.type=span_corruption model.decoder_layers=0",
       "span_corruption model.decoder_layers 1"},
      {kTextConfig,
       "objective.type=span_corruption objective.source_length=100000 objective.mask_fraction=0.9 "
       "objective.mean_span=1",
       "90001 10000"},
      {kTextConfig, "objective.mean_span=4", "objective.mean_span objective.type prefix_lm"},
      {kTextConfig, "objective.type=seq2seq", "seq2seq data.train"},
      {kPairsConfig, "objective.type=prefix_lm", "prefix_lm data.pairs"},
      {kPairsConfig, "tokenizer.shared=false", "model.tie all"},
      {kTextConfig, "tokenizer.shared=false", "tokenizer.shared"},
      {kTextConfig, "tokenizer.target.type=word", "tokenizer.target.type"},
      {kPairsConfig, "tokenizer.target.vocab_size=9",
       "tokenizer.target.vocab_size tokenizer.target.type"},
      {kPairsConfig, "tokenizer.target.type=word tokenizer.shared=true",
       "tokenizer.target tokenizer.shared"},
      {kPairsConfig, "tokenizer.target.type=word model.tie=all", "model.tie all"},
      {kPairsConfig, "tokenizer.shared=false model.tie=none tokenizer.file=v", "tokenizer.file"},
      {kTextConfig, "tokenizer.file=v tokenizer.vocab_size=9",
       "tokenizer.vocab_size tokenizer.file"},
      {kTextConfig, "tokenizer.type=byte tokenizer.file=v", "tokenizer.file tokenizer.type byte"},
      {kTextConfig, "tokenizer.punctuation=split", "tokenizer.punctuation tokenizer.type char"},
      {kTextConfig, "optimizer.schedule=noam optimizer.warmup_steps=0",
       "noam optimizer.warmup_steps"},
      {kTextConfig, "optimizer.min_learning_rate=1",
       "optimizer.min_learning_rate optimizer.learning_rate"},
      {kTextConfig, "optimizer.type=adam optimizer.weight_decay=0.1",
       "optimizer.weight_decay optimizer.type adam"},
      {kTextConfig, "train.max_steps=0", "train.max_steps"},
      {kTextConfig, "train.max_steps=0 train.max_minutes=3", "optimizer.decay_steps"},
      {kTextConfig, "train.select_by=bleu", "train.select_by bleu objective.type seq2seq"},
      {kPairsConfig, "train.select_by=bleu data.valid_fraction=0",
       "train.select_by data.valid_fraction"},
      {kTextConfig, "train.patience=3 data.valid_fraction=0", "train.patience"},
      {kTextConfig, "model.max_length=10", "model.max_length 64"},
      {kPairsConfig, "model.max_length=10", "model.max_length 257"},
  };
  for (const auto& [text, sets, facts] : cases)
    expect_config_error(text, words(sets), words(facts));
  EXPECT_NO_THROW(config(kDecoder));
}

// A key, another value than its default, and where it has no meaning.
TEST(ConfigRules, KeysWithoutMeaningAreRefused) {
  const Sets kDecoder = {"objective.type=causal_lm", "model.encoder_layers=0"},
             kEncoder = {"objective.type=masked_lm", "model.decoder_layers=0"};
  const std::tuple<const char*, Sets, const char*> cases[] = {
      {"data.max_length=9", {}, "data.train"},
      {"tokenizer.min_frequency=2", {"tokenizer.type=bpe"}, "bpe"},
      {"tokenizer.min_frequency=2", {"tokenizer.type=byte"}, "byte"},
      {"tokenizer.sample_bytes=99", {"tokenizer.type=word"}, "word"},
      {"model.d_ff=9", {"model.feed_forward=none"}, "model.feed_forward"},
      {"model.activation=relu", {"model.feed_forward=none"}, "model.feed_forward"},
      {"model.activation_dropout=0.3", {"model.feed_forward=none"}, "model.feed_forward"},
      {"model.attention.cross.uniform=true", kDecoder, "model.encoder_layers"},
      {"model.attention.encoder_self.query=random", kDecoder, "model.encoder_layers"},
      {"model.attention.decoder_self.key=random", kEncoder, "model.decoder_layers"},
      {"model.attention.cross.scaled=false", {"model.attention.cross.uniform=true"}, "uniform"},
      {"objective.source_length=9", kDecoder, "causal_lm"},
      {"objective.mask_fraction=0.3", kDecoder, "causal_lm"},
      {"objective.mask_fraction=0.3", {}, "prefix_lm"},
      {"objective.target_length=9", kEncoder, "masked_lm"},
      {"objective.target_length=9", {"objective.type=span_corruption"}, "span_corruption"},
      {"optimizer.betas=[0.8,0.9]", {"optimizer.type=sgd"}, "sgd"},
      {"optimizer.eps=1e-6", {"optimizer.type=sgd"}, "sgd"},
      {"optimizer.momentum=0.5", {}, "adamw"},
      {"optimizer.min_learning_rate=1e-5", {"optimizer.schedule=constant"}, "constant"},
      {"optimizer.min_learning_rate=1e-5", {"optimizer.schedule=inverse_sqrt"}, "inverse_sqrt"},
      {"optimizer.min_learning_rate=1e-5", {"optimizer.schedule=noam"}, "noam"},
      {"optimizer.decay_steps=9", {"optimizer.schedule=constant"}, "constant"},
      {"optimizer.decay_fraction=0.3", {}, "cosine"},
      {"train.patience=3", {"train.eval_every=0"}, "train.eval_every"},
      {"train.select_by=chrf", {}, "seq2seq"},
  };
  for (const auto& [set, sets, because] : cases) {
    const std::string key = std::string(set).substr(0, std::string(set).find('='));
    Sets all = sets;
    all.emplace_back(set);
    expect_config_error(kTextConfig, all, {key, because});
    // At the value that it has anyway it may stay: heed config has written it.
    const nlohmann::json whole = nlohmann::json::parse(dump_config(config(sets)));
    EXPECT_NO_THROW(parse_config(whole.dump(), "whole.json", read_sets({})));
  }
  expect_config_error(R"({"data": {"train": "a.txt", "max_length": 9}})", {}, {"a.json:1"});
}

TEST(ConfigRules, ATargetMayHaveATokenizerOfItsOwn) {
  EXPECT_EQ(dump_config(parse_config(kPairsConfig, "a.json")).find("\"target\": {"),
            std::string::npos);
  const RunConfig c =
      parse_config(kPairsConfig, "a.json", read_sets({"tokenizer.target={\"type\": \"bpe\"}"}));
  EXPECT_EQ(c.tokenizer.of_target().type, TokenizerConfig::bpe);
  EXPECT_FALSE(c.tokenizer.shared);
  EXPECT_EQ(c.model.tie, Tie::output);
  EXPECT_EQ(dump_config(parse_config(dump_config(c), "b.json")), dump_config(c));
  EXPECT_NO_THROW(parse_config(kTextConfig, "a.json", read_sets({"train.select_by=accuracy"})));
}

TEST(ConfigRules, WhatASetTakesTheMeaningFromIsLeftOut) {
  const std::string whole = dump_config(
      config({"optimizer.min_learning_rate=1e-5", "train.patience=3", "model.dropout=0.2"}));
  const RunConfig c = parse_config(whole, "whole.json",
                                   read_sets({"optimizer.schedule=constant", "train.eval_every=0",
                                              "model.feed_forward=none", "model.dropout=0.3"}));
  EXPECT_EQ(c.optimizer.min_learning_rate, 0);
  EXPECT_EQ(c.optimizer.decay_steps, 0);
  EXPECT_EQ(c.train.patience, 0);
  EXPECT_EQ(c.model.activation_dropout, 0.3);
}

TEST(ConfigRules, AStoredConfigIsTakenAsItIs) {
  const char* stored = R"({"data": {"train": "a.txt"}, "objective": {"mask_fraction": 0.5},
      "optimizer": {"schedule": "constant", "min_learning_rate": 1e-5}})";
  EXPECT_EQ(parse_config(stored, "config.json").optimizer.min_learning_rate, 1e-5);
  GivenKeys changes = read_sets({"train.max_steps=7"});
  EXPECT_EQ(resolved(changed(parse_keys(stored, "config.json"), changes)).objective.mask_fraction,
            0.5);
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
