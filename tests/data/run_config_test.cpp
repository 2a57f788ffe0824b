#include "data/run_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "data/configs.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

TEST(RunConfig, TheSmallestConfigIsEnough) {
  const RunConfig c = config({});
  EXPECT_EQ(c.data.train.paths, std::vector<std::string>{"a.txt"});
  EXPECT_EQ(c.model.d_model, 128);
  EXPECT_EQ(c.objective.type, "prefix_lm");
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
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "a.json: expected a JSON object; found []"},
      {"{\n\"modle\": {}}", "a.json:2: unknown key \"modle\"; did you mean \"model\"?"},
      {"{\"model\": {\n\"d_modle\": 1}}", "a.json:2: unknown key \"model.d_modle\"; did you mean"},
      {R"({"d_model": 64})", "unknown key \"d_model\"; did you mean \"model.d_model\"?"},
      {R"({"model": {"zzzzzz": 64}})", "unknown key \"model.zzzzzz\".\n  try: heed config --docs"},
      {R"({"model": 3})", "model must be a section (an object); found 3"},
      {R"({"model": {"d_model": "64"}})",
       "model.d_model must be an integer from 1 to 65536; found \"64\""},
      {R"({"model": {"d_model": 64.5}})", "model.d_model must be an integer from 1 to 65536"},
      {R"({"model": {"d_model": 0}})", "found 0"},
      {R"({"model": {"d_model": 99999999999999999999}})", "model.d_model must be an integer"},
      {R"({"model": {"d_model": null}})", "found null"},
      {R"({"model": {"dropout": 1}})", "model.dropout must be a number from 0 to below 1; found 1"},
      {R"({"model": {"dropout": -0.1}})", "found -0.1"},
      {R"({"model": {"attention_dropout": -1}})", "model.attention_dropout must be"},
      {R"({"model": {"norm": "before"}})", "model.norm must be one of pre, post; found \"before\""},
      {R"({"model": {"activation": "geluu"}})", "did you mean \"gelu\"?"},
      {R"({"model": {"norm": 1}})", "found 1"},
      {R"({"model": {"attention": {"cross": {"unifrom": true}}}})",
       "did you mean \"model.attention.cross.uniform\"?"},
      {R"({"seed": -1})", "seed must be an integer from 0 to 18446744073709551615; found -1"},
      {R"({"optimizer": {"learning_rate": 0}})",
       "optimizer.learning_rate must be a number greater than 0 and of at most 1000000; found 0"},
      {R"({"optimizer": {"betas": [0.9]}})", "optimizer.betas must be a list of two numbers"},
      {R"({"optimizer": {"betas": [0.9, 1]}})", "optimizer.betas must be"},
      {R"({"train": {"eval_every": "1 day"}})",
       "train.eval_every must be a number of steps or \"N epochs\"; found \"1 day\""},
      {R"({"train": {"eval_every": "0 epochs"}})", "train.eval_every must be"},
      {R"({"train": {"eval_every": -1}})", "train.eval_every must be"},
      {R"({"train": {"eval_every": 1.5}})", "train.eval_every must be"},
      {R"({"data": {"train": 1}})", "data.train must be a path or a list of paths; found 1"},
      {R"({"data": {"train": ["a", ""]}})", "data.train must be a path or a list of paths"},
      {"{\"data\": {\"train\": \"a\\u0000b\"}}", "data.train must be a path"},
      {R"({"data": {"lowercase": 1}})", "data.lowercase must be true or false; found 1"},
      {R"({"objective": {"source_length": 0}})", "objective.source_length must be an integer"},
      {R"({"objective": {"target_length": -5}})", "objective.target_length must be an integer"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_THAT(config_error(text), HasSubstr(message)) << text;
}

TEST(RunConfig, SetGoesThroughTheSameDoor) {
  EXPECT_EQ(config({"model.d_model=32", "model.d_model=64"}).model.d_model, 64);
  EXPECT_EQ(config({"train.eval_every=3 epochs"}).train.eval_every, (Interval{3, true}));
  EXPECT_EQ(config({R"(model={"d_ff": 7})"}).model.d_ff, 7);
  EXPECT_EQ(config({"data.train=//b c"}).data.train.paths[0], "//b c");
  // null takes a key back to its default.
  EXPECT_EQ(config({"model.d_ff=7", "model.d_ff=null"}).model.d_ff, ModelConfig().d_ff);
  const std::pair<std::string, std::string> cases[] = {
      {"model.d_modle=3", "--set \"model.d_modle=3\": unknown key \"model.d_modle\"; did you mean"},
      {"model.d_modle=null", "unknown key \"model.d_modle\""},
      {"model.d_model=x", "--set \"model.d_model=x\": model.d_model must be an integer"},
      {"model.d_model.x=1", "model.d_model must be an integer"},
      {"model={\"d_ff\":0}", "--set \"model={\\\"d_ff\\\":0}\": model.d_ff must be"},
      {"optimizer.learning_rate=NaN", "optimizer.learning_rate must be a number"},
      {"optimizer.learning_rate=1e999", "optimizer.learning_rate must be a number"},
      {"model.d_model", "expected KEY=VALUE"},
      {"=3", "expected KEY=VALUE"},
      {"data.train=\xff", "not valid UTF-8"},
      {"\xff=1", "unknown key"},
      {"..=1", "unknown key"},
      {"model..d_ff=1", "unknown key"},
  };
  for (const auto& [set, message] : cases)
    EXPECT_THAT(config_error(kTextConfig, {set}), HasSubstr(message)) << set;
}

TEST(RunConfig, TheEffectiveConfigIsCompleteAndReadsBackTheSame) {
  for (const Sets& sets :
       {Sets{}, Sets{"data.train=[\"x\"]"}, Sets{"optimizer.type=adam"},
        Sets{"optimizer.type=sgd", "train.eval_every=1 epoch", "seed=9"},
        Sets{"optimizer.type=muon", "optimizer.schedule=wsd", "optimizer.decay_fraction=0.4"},
        Sets{"data.valid=v.txt"}, Sets{"objective.type=span_corruption", "objective.mean_span=2.5"},
        Sets{"train.max_steps=0", "train.max_epochs=1", "optimizer.schedule=constant"}}) {
    const std::string dump = dump_config(config(sets));
    EXPECT_EQ(dump_config(parse_config(dump, "config.json")), dump);
  }
  const Sets spans = {"objective.type=span_corruption", "tokenizer.type=word",
                      "optimizer.type=muon", "optimizer.schedule=wsd"};  // all keys
  const Json dump = Json::parse(dump_config(config(spans)));
  EXPECT_FALSE(Json::parse(dump_config(config({})))["objective"].contains("mean_span"));
  const Json schema = Json::parse(config_schema());
  for (const auto& [section, part] : schema["properties"].items()) {
    const Json keys = part.value("properties", Json::object());
    for (const auto& [key, unused] : keys.items())
      EXPECT_TRUE(dump[section].contains(key)) << section << "." << key;
  }
  EXPECT_FALSE(
      Json::parse(dump_config(config({}), DumpFor::checkpoint))["train"].contains("threads"));
}

TEST(RunConfig, PathsAreRelativeToTheConfigFile) {
  EXPECT_EQ(resolve_path("configs", "../data/a.txt"), "data/a.txt");
  EXPECT_EQ(resolve_path("configs", "/data/a.txt"), "/data/a.txt");
  EXPECT_EQ(resolve_path("", "a.txt"), "a.txt");
}

TEST(RunConfig, ResumingMayChangeWhatLeavesThePastAlone) {
  const auto changes =
      changed_keys(config({}), config({"train.max_steps=2000", "model.dropout=0.2",
                                       "train.threads=2", "optimizer.decay_steps=1000"}));
  ASSERT_EQ(changes.size(), 5u);
  EXPECT_EQ(changes[0].key, "model.dropout");
  EXPECT_EQ(changes[0].before, "0.1");
  EXPECT_EQ(changes[0].after, "0.2");
  EXPECT_EQ(changes[0].on_resume, OnResume::refused);
  EXPECT_EQ(changes[1].key, "model.attention_dropout");
  EXPECT_EQ(changes[2].key, "model.activation_dropout");
  EXPECT_EQ(changes[3].key, "train.max_steps");
  EXPECT_EQ(changes[3].on_resume, OnResume::allowed);
  EXPECT_EQ(changes[4].key, "train.threads");
  // The schedule was fixed when the run started.
  const RunConfig run =
      parse_config(dump_config(config({})), "config.json", read_sets({"train.max_steps=9"}));
  EXPECT_EQ(run.optimizer.decay_steps, 1000);
}

TEST(RunConfig, TheSchemaSaysWhatReadingEnforces) {
  const Json schema = Json::parse(config_schema());
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

TEST(RunConfig, TheTableNamesEveryKey) {
  RunConfig c;
  const std::string docs = config_docs();
  const std::vector<Field> all = fields(c);
  for (const Leaf& leaf : leaves(all)) {
    EXPECT_THAT(docs, HasSubstr("| `" + leaf.key + "` |"));
    EXPECT_FALSE(leaf.field->doc.empty()) << leaf.key;
  }
}

}  // namespace
}  // namespace heed
