// heed attend as a user starts it, on a model that was barely trained.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error_of.h"
#include "base/temporary_folder.h"
#include "cli/process.h"

namespace heed {
namespace {

using test::Result;
using testing::HasSubstr;

class Attend : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    write("s", "a b c\nb c\nc a\na a b\n");
    write("t", "c b a\nc b\na c\nb a a\n");
    write("config.json", R"({"data": {"source": "s", "target": "t", "valid_fraction": 0},
      "tokenizer": {"type": "word"}, "objective": {"type": "seq2seq"},
      "model": {"d_model": 8, "n_heads": 2, "d_ff": 8, "encoder_layers": 2, "decoder_layers": 1},
      "train": {"max_steps": 2}})");
    ASSERT_EQ(heed("train " + at("config.json") + " --run " + at("run") + " --quiet").status, 0);
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::string at(const std::string& name) { return (folder_->path() / name).string(); }
  static void write(const std::string& name, const std::string& text) {
    std::ofstream(at(name)) << text;
  }
  static Result heed(const std::string& args) { return test::run_heed(args + " 2>&1"); }
  static Result attend(const std::string& args) { return heed("attend " + at("run") + " " + args); }

  static std::unique_ptr<TemporaryFolder> folder_;
};
std::unique_ptr<TemporaryFolder> Attend::folder_;

TEST_F(Attend, ChosenHeadsAreThoseOfAll) {
  const auto all = nlohmann::json::parse(attend("'a b' --target 'b a' --json").out);
  const auto one =
      nlohmann::json::parse(attend("'a b' --target 'b a' --json --layer 1 --head 1").out);
  EXPECT_FALSE(one.contains("decoder"));  // has no such layer
  ASSERT_EQ(one["encoder"].size(), 1u);
  EXPECT_EQ(one["encoder"][0].size(), 1u);
  EXPECT_EQ(one["encoder"][0][0], all["encoder"][1][1]);
  ASSERT_EQ(one["patterns"].size(), 1u);
  EXPECT_EQ(one["patterns"][0], all["patterns"][3]);
  const auto cross = nlohmann::json::parse(
      attend("'a b' --target 'b a' --json --contributions --kind cross --head 1").out);
  EXPECT_FALSE(cross.contains("encoder"));
  EXPECT_EQ(cross["cross"][0][0], all["cross"][0][1]);
  EXPECT_EQ(cross["contribution_cross"][0].size(), 1u);
}

TEST_F(Attend, DrawsTheChosenHead) {
  const std::string out = attend("'a b' --target b --kind cross --head 1").out;
  EXPECT_THAT(out, HasSubstr("cross, layer 0, head 1"));
  EXPECT_THAT(out, Not(HasSubstr("head 0")));
  EXPECT_THAT(out, Not(HasSubstr("encoder,")));
  EXPECT_THAT(out, Not(HasSubstr("\x1b")));  // no terminal
}

TEST_F(Attend, WithoutAChoiceAHeadHasALineAndOneItsMap) {
  const std::string out = attend("a b --target b").out;
  for (const char* line : {"encoder, layer 0, head 0: ", "decoder, layer 0, head 1: ",
                           "cross, layer 0, head 1: ", "the map of one:\ncross, layer 0, head "})
    EXPECT_THAT(out, HasSubstr("\n" + std::string(line)));
  EXPECT_LT(std::count(out.begin(), out.end(), '\n'), 24);
  EXPECT_THAT(out, Not(HasSubstr("the model writes")));
}

TEST_F(Attend, WhatTheModelWritesIsItsTranslation) {
  for (const std::string text : {"a b", "c", "a a a b c"}) {
    std::string translation = heed("translate " + at("run") + " " + text).out;
    if (translation.starts_with("warning: the translation did not end"))
      translation.erase(0, translation.find('\n') + 1);
    EXPECT_THAT(attend(text).out, HasSubstr("the model writes (--target for another):\n  " +
                                            translation.substr(0, translation.find('\n'))));
    const auto json = nlohmann::json::parse(attend(text + " --json").out);
    std::string written;
    for (std::size_t i = 1; i < json["target_tokens"].size(); ++i)
      written += (i > 1 ? " " : "") + json["target_tokens"][i].get<std::string>();
    EXPECT_EQ(written + "\n", translation);
    EXPECT_LE(
        nlohmann::json::parse(attend(text + " --json --max-tokens 1").out)["target_ids"].size(),
        2u);
  }
}

// An object for each line, empty ones and such with unknown words too.
TEST_F(Attend, JsonOfEachLineOfAFile) {
  write("lines", "a b\n\nc zebra\n");
  write("targets", " b  a\nc\n\n");
  const std::string files = "--file " + at("lines") + " --target-file " + at("targets") + " --json";
  const auto lines_of = [](std::string text) {
    std::vector<nlohmann::json> lines;
    for (std::size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
      if (text.starts_with('{')) lines.push_back(nlohmann::json::parse(text.substr(0, end)));
    return lines;
  };
  const Result result = attend(files);
  expect_facts(result.out, {"<unk>", "1", "'zebra'"});
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], nlohmann::json::parse(attend("a b --target ' b  a' --json").out));
  EXPECT_EQ(lines[0]["source_bytes"], nlohmann::json::parse("[[0, 1], [2, 3], [3, 3]]"));
  EXPECT_EQ(lines[0]["target_bytes"], nlohmann::json::parse("[[0, 0], [1, 2], [4, 5]]"));
  EXPECT_EQ(lines[1]["source_tokens"], nlohmann::json::parse(R"(["</s>"])"));
  EXPECT_EQ(lines[1]["cross"][0][1], nlohmann::json::parse("[[1.0], [1.0]]"));
  EXPECT_EQ(lines[2]["source_ids"][1], 0);
  EXPECT_EQ(lines[2]["target_bytes"], nlohmann::json::parse("[[0, 0]]"));
  EXPECT_EQ(lines_of(attend(files + " --limit 2").out).size(), 2u);
  // A target that the model writes has no line.
  const auto written = lines_of(attend("--file " + at("lines") + " --json --limit 1").out);
  EXPECT_EQ(written[0]["source_bytes"], lines[0]["source_bytes"]);
  EXPECT_FALSE(written[0].contains("target_bytes"));
}

}  // namespace
}  // namespace heed
