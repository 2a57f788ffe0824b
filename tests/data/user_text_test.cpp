#include "data/user_text.h"

#include <gtest/gtest.h>

#include "base/error_of.h"
#include "data/splits.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

struct Model {
  RunConfig config;
  Tokenizers tokenizers;
  std::unique_ptr<const Objective> objective;

  TokenIds read(Side side, const std::string& text, const char* name) const {
    Log log({.quiet = true});
    return objective->framed(
        side,
        UserTexts(*objective, config, tokenizers, log).inspected(side, text, name, false).ids());
  }
  TokenIds source(const std::string& text) const { return read(Side::source, text, "the text"); }
  TokenIds target(const std::string& text) const { return read(Side::target, text, "--target"); }
};

Model model_of(const std::string& objective, const std::string& positions = "learned") {
  const bool pairs = objective == "seq2seq", masked = objective == "masked_lm";
  const std::string data =
      pairs ? R"("source": "s", "target": "t", "max_length": 5)" : R"("train": "x")";
  Model m;
  m.config = parse_config(R"({"data": {)" + data + R"(}, "objective": {"type": ")" + objective +
                              R"(", "source_length": 4, "target_length": 5}, "model":
      {"encoder_layers": )" + (objective == "causal_lm" ? "0" : "1") +
                              R"(, "decoder_layers": )" + (masked ? "0" : "1") +
                              R"(, "positions": ")" + positions + R"("}})",
                          "test");
  m.tokenizers.target = train(Type::char_, "abcdefghé", masked);
  m.objective = make_objective(m.config);
  return m;
}

TEST(UserText, IsWhatTheStacksReadInTraining) {
  for (const char* objective : {"seq2seq", "prefix_lm", "masked_lm"}) {
    const Model m = model_of(objective);
    std::vector<int> expected = m.tokenizers.target->encode("abc");
    if (objective == std::string("seq2seq")) expected.push_back(kEos);
    if (objective == std::string("masked_lm")) expected.insert(expected.begin(), kBos);
    EXPECT_EQ(m.source("abc"), expected) << objective;
  }
  for (const char* objective : {"seq2seq", "prefix_lm", "causal_lm"}) {
    const Model m = model_of(objective);
    std::vector<int> expected = m.tokenizers.target->encode("abc");
    expected.insert(expected.begin(), kBos);
    EXPECT_EQ(m.target("abc"), expected) << objective;
    if (objective == std::string("causal_lm")) continue;  // it has no other text
    EXPECT_EQ(m.target(""), std::vector<int>{kBos});
  }
  const Model prefix = model_of("prefix_lm"), masked = model_of("masked_lm");
  EXPECT_EQ(prefix.objective->framed_source({}), std::vector<int>{kBos});
  EXPECT_EQ(masked.source("a[MASK]")[2], Tokenizer::kFirstFurther);
}

TEST(UserText, PairsMayBeLongerThanAnyThatWereLearntFrom) {
  Model m = model_of("seq2seq", "rotary");
  m.config.model.max_length = 100;  // positions reach farther than the training did
  m.objective = make_objective(m.config);
  EXPECT_EQ(m.source("abcdefabc").size(), 10u);
  EXPECT_EQ(m.objective->fit(Side::source, 6, "line 3"), "");
  expect_facts(m.objective->fit(Side::source, 7, "line 3"), {"line 3", "7", "6"});
}

}  // namespace
}  // namespace heed
