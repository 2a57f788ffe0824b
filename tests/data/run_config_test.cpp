#include "data/run_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error_of.h"
#include "config/fields_json.h"
#include "data/splits.h"

namespace heed {
namespace {

using Sets = std::vector<std::string>;

constexpr const char* kTextConfig = R"({"data": {"train": "a.txt"}})";
constexpr const char* kPairsConfig =
    R"({"data": {"pairs": "a.tsv"}, "objective": {"type": "seq2seq"}})";

RunConfig config(const Sets& sets, const char* text = kTextConfig) {
  return parse_config(text, "a.json", read_sets(sets));
}

// Those of a line.
Sets words(const char* line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

// Reading is refused with these facts.
void expect_config_error(const std::string& text, const Sets& sets, const Facts& facts) {
  SCOPED_TRACE(text + " " + testing::PrintToString(sets));
  expect_error([&] { parse_config(text, "a.json", read_sets(sets)); }, Exit::usage, facts);
}

TEST(RunConfig, EveryTypeIsRead) {
  const RunConfig c = parse_config(R"({
    // a comment
    "seed": 18446744073709551615,
    "data": {"train": ["a.txt", "b.txt"], "lowercase": true, "valid_fraction": 0},
    "tokenizer": {"type": "bpe", "vocab_size": 1e3},
    "model": {"positions": "rotary", "attention": {"cross": {"uniform": true, "key": "random"}}},
    "optimizer": {"betas": [0.8, 0.95], "schedule": "noam"},
    "train": {"eval_every": "2 epochs", "save_every": "1 epoch", "log_every": 0}})",
                                   "a.json");
  EXPECT_EQ(c.seed, 18446744073709551615u);
  EXPECT_EQ(c.data.train.paths, (std::vector<std::string>{"a.txt", "b.txt"}));
  EXPECT_TRUE(c.data.lowercase);
  EXPECT_EQ(c.tokenizer.type, TokenizerConfig::bpe);
  EXPECT_EQ(c.tokenizer.vocab_size, 1000);
  EXPECT_EQ(c.model.positions, Positions::rotary);
  EXPECT_TRUE(c.model.attention.cross.uniform);
  EXPECT_EQ(c.model.attention.cross.key, Projection::random);
  EXPECT_FALSE(c.model.attention.encoder_self.uniform);
  EXPECT_EQ(c.optimizer.betas, (std::array<double, 2>{0.8, 0.95}));
  EXPECT_EQ(c.optimizer.schedule, "noam");
  EXPECT_EQ(c.train.eval_every, (Interval{2, true}));
  EXPECT_EQ(c.train.save_every, (Interval{1, true}));
  EXPECT_EQ(c.train.log_every, (Interval{0, false}));
}

TEST(RunConfig, ReadingErrors) {
  const std::pair<std::string, Facts> cases[] = {
      {"[]", {"a.json", "JSON", "[]"}},
      {"{\n\"modle\": {}}", {"a.json:2", "modle", "model"}},
      {"{\"model\": {\n\"d_modle\": 1}}", {"a.json:2", "model.d_modle"}},
      {R"({"d_model": 64})", {"d_model", "model.d_model"}},
      {R"({"model": {"zzzzzz": 64}})", {"model.zzzzzz", "heed config --docs"}},
      {R"({"model": 3})", {"model", "3"}},
      {R"({"train": {"max_steps": 1e30}})", {"train.max_steps"}},
      {R"({"model": {"d_model": "64"}})", {"model.d_model", "1", "65536", "64"}},
      {R"({"model": {"d_model": 64.5}})", {"model.d_model", "1", "65536"}},
      {R"({"model": {"d_model": null}})", {"model.d_model", "null"}},
      {R"({"model": {"dropout": 1}})", {"model.dropout", "0", "1"}},
      {R"({"model": {"norm": "before"}})", {"model.norm", "pre", "post", "before"}},
      {R"({"model": {"activation": "geluu"}})", {"model.activation", "geluu", "gelu"}},
      {R"({"model": {"attention": {"cross": {"unifrom": true}}}})",
       {"model.attention.cross.unifrom", "model.attention.cross.uniform"}},
      {R"({"seed": -1})", {"seed", "0", "18446744073709551615", "-1"}},
      {R"({"optimizer": {"learning_rate": 0}})", {"optimizer.learning_rate", "0", "1000000"}},
      {R"({"optimizer": {"betas": [0.9]}})", {"optimizer.betas"}},
      {R"({"train": {"eval_every": "1 day"}})", {"train.eval_every", "N epochs", "1 day"}},
      {R"({"train": {"eval_every": "0 epochs"}})", {"train.eval_every"}},
      {R"({"data": {"train": 1}})", {"data.train", "1"}},
      {R"({"data": {"train": ["a", ""]}})", {"data.train"}},
      // What is no JSON.
      {"", {"a.json"}},
      {" \n ", {"a.json"}},
      {"{\n \"a\": }", {"a.json:2:7", "JSON"}},
      {"{\"a\": 1,}", {"a.json:1:9", "JSON"}},
      {"{\"a\": NaN}", {"a.json:1:7", "JSON"}},
      {"{\n\"a\": 1e999\n}", {"a.json:2:10", "JSON"}},
      {"{\"a\": \"\xff\"}", {"a.json:1:8", "JSON"}},
      {"{\"a\": {\"b\": 1,\n\"b\": 2}}", {"a.json:2", "a.b"}},
      {std::string(100'000, '['), {"a.json:1"}},
      {"{\"" + std::string(300, 'k') + "\": 1}", {"a.json:1"}},
      {std::string(300'000, ' '), {"a.json", "256 KB"}},
  };
  for (const auto& [text, facts] : cases) expect_config_error(text, {}, facts);
  const auto bad = [] { parse_config("{\"a\": \"\xff\"}", "a.json"); };
  for (const char ch : error_of(bad, Exit::usage)) EXPECT_TRUE(ch >= ' ' && ch <= '~') << int(ch);
}

TEST(RunConfig, SetGoesThroughTheSameDoor) {
  EXPECT_EQ(config({"model.d_model=32", R"(model={"d_ff": 64})"}).model.d_model, 32);
  EXPECT_EQ(config({"train.eval_every=3 epochs"}).train.eval_every, (Interval{3, true}));
  const RunConfig c = config({"train.max_steps=010", "optimizer.learning_rate=.001"});
  EXPECT_EQ(c.train.max_steps, 10);  // numbers as options take them: base/number_test.cpp
  EXPECT_EQ(c.optimizer.learning_rate, 0.001);
  EXPECT_EQ(config({"data.train=//b c"}).data.train.paths[0], "//b c");
  EXPECT_EQ(config({"data.train=010"}).data.train.paths[0], "010");
  for (const Sets& twice :
       {Sets{"model.d_ff=7", "seed=2", "model.d_ff=8"}, Sets{"model.d_ff=7", "model.d_ff=null"},
        Sets{R"(model={"d_ff": 7, "bias": false})", "model.d_ff=8"}})
    expect_config_error(kTextConfig, twice, {"both", "model.d_ff", twice.back()});
  const std::pair<std::string, Facts> cases[] = {
      {"model.d_modle=3", {"--set", "model.d_modle=3", "model.d_modle"}},
      {"model.d_model=x", {"--set", "model.d_model=x", "model.d_model"}},
      {"model.d_model.x=1", {"model.d_model"}},
      {"model={\"d_ff\":0}", {"--set", "{\\\"d_ff\\\":0}", "model.d_ff"}},
      {"optimizer.learning_rate=NaN", {"optimizer.learning_rate"}},
      {"data.train=\xff", {"UTF-8"}},
      {"\xff=1", {"--set"}},
      {"model..d_ff=1", {"model..d_ff"}},
  };
  for (const auto& [set, facts] : cases) expect_config_error(kTextConfig, {set}, facts);
}

TEST(RunConfig, TheEffectiveConfigIsCompleteAndReadsBackTheSame) {
  for (const Sets& sets :
       {Sets{}, Sets{"data.train=[\"x\"]"}, Sets{"optimizer.type=adam"},
        Sets{"optimizer.type=sgd", "train.eval_every=1 epoch", "seed=9"},
        Sets{"optimizer.type=muon", "optimizer.schedule=wsd", "optimizer.decay_fraction=0.4"},
        Sets{"data.valid=v.txt", "train.select_by=accuracy"},
        Sets{"objective.type=span_corruption", "objective.mean_span=2.5"},
        Sets{"objective.type=causal_lm", "model.encoder_layers=0", "model.feed_forward=none"},
        Sets{"train.max_steps=0", "train.max_epochs=1", "optimizer.schedule=constant"}}) {
    const std::string dump = dump_config(config(sets));
    EXPECT_EQ(dump_config(parse_config(dump, "config.json")), dump);
    EXPECT_EQ(dump_config(parse_config(dump, "mine.json", {})), dump);  // one that a user writes
  }
  const Sets spans = {
      "objective.type=span_corruption", "tokenizer.type=word", "optimizer.type=muon",
      "optimizer.schedule=wsd",         "train.live=true",     "train.prompt=The"};  // all keys
  const Json dump = Json::parse(dump_config(config(spans)));
  EXPECT_FALSE(Json::parse(dump_config(config({})))["objective"].contains("mean_span"));
  EXPECT_FALSE(Json::parse(dump_config(config({})))["train"].contains("live"));
  EXPECT_FALSE(Json::parse(dump_config(config({})))["train"].contains("prompt"));
  RunConfig defaults;
  const Json schema = fields_schema(fields(defaults));
  for (const auto& [section, part] : schema["properties"].items()) {
    const Json keys = part.value("properties", Json::object());
    for (const auto& [key, unused] : keys.items())
      EXPECT_TRUE(dump[section].contains(key) || key == "target" || key == "columns")
          << section << "." << key;
  }
  EXPECT_FALSE(
      Json::parse(dump_config(config({}), DumpFor::checkpoint))["train"].contains("threads"));
}

TEST(RunConfig, NullTakesAKeyOrASectionBackToItsDefault) {
  const auto changed = [](const char* text, const Sets& sets) {
    return dump_config(config(sets, text));
  };
  const char* given = R"({"data": {"train": "a.txt"}, "model": {"d_model": 64, "n_kv_heads": 2,
      "attention_dropout": 0.3, "activation_dropout": 0.4, "max_length": 900},
      "optimizer": {"type": "muon", "momentum": 0.5, "weight_decay": 0.7}})";
  const char* left_out = R"({"data": {"train": "a.txt"}, "model": {"d_model": 64},
      "optimizer": {"type": "muon"}})";
  EXPECT_EQ(changed(given, {"model.n_kv_heads=null", "model.attention_dropout=null",
                            "model.activation_dropout=null", "model.max_length=null",
                            "optimizer.momentum=null", "optimizer.weight_decay=null"}),
            changed(left_out, {}));
  EXPECT_EQ(changed(given, {"model=null", "model.d_model=64", "optimizer.momentum=null",
                            "optimizer.weight_decay=null"}),
            changed(left_out, {}));
  EXPECT_EQ(changed(given, {"model={\"n_kv_heads\": null, \"attention_dropout\": null}",
                            "model.activation_dropout=null", "model.max_length=null",
                            "optimizer={\"momentum\": null, \"weight_decay\": null}"}),
            changed(left_out, {}));
}

TEST(RunConfig, TheSchemaSaysWhatReadingEnforces) {
  RunConfig defaults;
  const Json schema = fields_schema(fields(defaults));
  EXPECT_EQ(schema["additionalProperties"], false);
  const Json& model = schema["properties"]["model"];
  EXPECT_EQ(model["additionalProperties"], false);
  const Json& d_model = model["properties"]["d_model"];
  EXPECT_EQ(d_model["type"], "integer");
  EXPECT_EQ(d_model["minimum"], 1);
  EXPECT_EQ(d_model["maximum"], 65'536);
  EXPECT_EQ(d_model["default"], 128);
  EXPECT_EQ(model["properties"]["dropout"]["exclusiveMaximum"], 1);
  EXPECT_EQ(model["properties"]["norm"]["enum"], Json::parse(R"(["pre", "post"])"));
  EXPECT_FALSE(model["properties"]["attention_dropout"].contains("default"));
}

TEST(RunConfig, AKeyThatOneRunLacksCountsWithItsDefault) {
  ConfigKeys one = keys_of(RunConfig{}), other = one, unreadable;
  one.erase("model.d_ff");
  one["model.d_model"] = 7;
  one.erase("seed");
  other["seed"] = 2;
  keep_differences({&one, &other, &unreadable});
  EXPECT_EQ(one, (ConfigKeys{{"model.d_model", 7}}));
  EXPECT_EQ(other, (ConfigKeys{{"model.d_model", RunConfig{}.model.d_model}, {"seed", 2}}));
}

// Rules between the keys of a config, and the defaults of missing keys.

TEST(ConfigRules, RulesBetweenKeys) {
  // The config, changes of it, and the facts of the refusal.
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"{}", "", "data.train"},
      {kTextConfig, "data.pairs=b", "data.train data.pairs"},
      {"{}", "data.source=b", "data.source data.target"},
      {kPairsConfig, "data.valid=b", "data.valid data.train"},
      {kTextConfig, "data.valid_pairs=b", "data.valid_pairs data.valid"},
      {kPairsConfig, "data.valid_pairs=b data.valid_source=c data.valid_target=d",
       "data.valid_pairs data.valid_source"},
      {kTextConfig, "data.valid=b data.valid_fraction=0.2", "data.valid_fraction"},
      {kTextConfig, "model.n_heads=3", "model.n_heads model.d_model 3"},
      {kTextConfig, "model.n_kv_heads=3", "model.n_kv_heads model.n_heads 3 4"},
      {kTextConfig, "model.n_kv_heads=2 model.attention.cross.key=identity",
       "model.attention.cross.key model.n_kv_heads 2 4"},
      {kTextConfig, "model.rope_base=500", "model.rope_base rotary"},
      {kTextConfig, "model.d_model=12 model.positions=rotary", "rotary 3"},
      {kTextConfig, "model.attention.decoder_self.positions=false", "rotary"},
      {kTextConfig, "model.attention.cross.positions=false", ""},
      {kTextConfig, "model.d_model=9 model.n_heads=3", "model.d_model 9"},
      {kTextConfig, "model.encoder_layers=0", "prefix_lm model.encoder_layers 1"},
      {kPairsConfig, "model.encoder_layers=0 tokenizer.shared=false model.tie=none",
       "tokenizer.shared model.encoder_layers"},
      {kTextConfig, "objective.type=causal_lm", "causal_lm model.encoder_layers 0 2"},
      {kTextConfig, "objective.mean_span=4", "objective.mean_span objective.type prefix_lm"},
      {kTextConfig, "objective.type=seq2seq", "seq2seq data.train"},
      {kPairsConfig, "objective.type=prefix_lm", "prefix_lm data.pairs"},
      {kPairsConfig, "tokenizer.shared=false model.tie=all", "model.tie all"},
      {kTextConfig, "tokenizer.target.type=word", "tokenizer.target.type"},
      {kPairsConfig, "tokenizer.target.vocab_size=9",
       "tokenizer.target.vocab_size tokenizer.target.type"},
      {kPairsConfig, "tokenizer.target.type=word tokenizer.shared=true",
       "tokenizer.target tokenizer.shared"},
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
      {kTextConfig, "train.max_steps=0 train.max_minutes=3", "optimizer.decay_steps"},
      {kTextConfig, "train.select_by=bleu", "train.select_by bleu objective.type seq2seq"},
      {kPairsConfig, "train.select_by=bleu data.valid_fraction=0",
       "train.select_by data.valid_fraction"},
      {kTextConfig, "train.patience=3 data.valid_fraction=0", "train.patience"},
      {kTextConfig, "model.max_length=10", "model.max_length 64"},
  };
  for (const auto& [text, sets, facts] : cases)
    expect_config_error(text, words(sets), words(facts));
}

// A key, another value than its default, and where it has no meaning.
TEST(ConfigRules, KeysWithoutMeaningAreRefused) {
  const Sets kDecoder = {"objective.type=causal_lm", "model.encoder_layers=0"},
             kEncoder = {"objective.type=masked_lm", "model.decoder_layers=0"};
  const std::tuple<const char*, Sets, const char*> cases[] = {
      {"data.max_length=9", {}, "data.train"},
      {"tokenizer.min_frequency=2", {"tokenizer.type=bpe"}, "bpe"},
      {"tokenizer.sample_bytes=99", {"tokenizer.type=word"}, "word"},
      {"model.d_ff=9", {"model.feed_forward=none"}, "model.feed_forward"},
      {"model.attention.cross.uniform=true", kDecoder, "model.encoder_layers"},
      {"model.attention.decoder_self.key=random", kEncoder, "model.decoder_layers"},
      {"model.attention.cross.scaled=false", {"model.attention.cross.uniform=true"}, "uniform"},
      {"objective.source_length=9", kDecoder, "causal_lm"},
      {"objective.mask_fraction=0.3", {}, "prefix_lm"},
      {"objective.target_length=9", kEncoder, "masked_lm"},
      {"optimizer.betas=[0.8,0.9]", {"optimizer.type=sgd"}, "sgd"},
      {"optimizer.momentum=0.5", {}, "adamw"},
      {"optimizer.min_learning_rate=1e-5", {"optimizer.schedule=constant"}, "constant"},
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
