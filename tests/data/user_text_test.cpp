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

TEST(UserText, IsChangedAsTheDataWas) {
  Model m = model_of("masked_lm");
  m.config.data.normalize = Normalize::nfkc;
  m.config.data.lowercase = true;
  EXPECT_EQ(m.source("E\u0301[MASK]\uFF21"), m.source("é[MASK]a"));
  EXPECT_EQ(m.source("a[MASK]")[2], Tokenizer::kFirstFurther);
}

TEST(UserText, MistakesAreTold) {
  const struct {
    const char *objective, *text;
    Facts facts;
  } cases[] = {
      {"seq2seq", "", {"the text"}},
      {"prefix_lm", "", {"the text"}},
      {"masked_lm", "", {"the text"}},
      {"seq2seq", "Züü", {"the text", "3", "Z", "ü", "U+00FC"}},
      {"seq2seq", "abcdefabc", {"the text", "10 tokens", "6"}},
      {"prefix_lm", "abcde", {"the text", "5 tokens", "4"}},
      {"masked_lm", "abcde", {"the text", "5"}},
      {"seq2seq", "a\xFF", {"the text", "UTF-8"}},
  };
  for (const auto& [objective, text, facts] : cases)
    expect_error([&] { model_of(objective).source(text); }, Exit::data, facts);
}

TEST(UserText, AnUnknownPartIsReadAsUnk) {
  constexpr int kUnk = Tokenizer::kUnk;
  EXPECT_EQ(model_of("masked_lm").source("[MASK]Z"),
            (std::vector<int>{kBos, Tokenizer::kFirstFurther, kUnk}));
  const Model m = model_of("causal_lm");
  EXPECT_EQ(m.target("aü"), (std::vector<int>{kBos, m.tokenizers.target->encode("a")[0], kUnk}));
}

TEST(UserText, PairsMayBeLongerThanAnyThatWereLearntFrom) {
  const Model m = model_of("seq2seq", "rotary");
  EXPECT_EQ(m.source("abcdefabc").size(), 10u);
  EXPECT_EQ(m.objective->fit(Side::source, 6, "line 3"), "");
  expect_facts(m.objective->fit(Side::source, 7, "line 3"), {"line 3", "7", "6"});
}

TEST(UserText, PairsWereNotLearntFromAsFarAsThePositionsReach) {
  Model m = model_of("seq2seq", "rotary");
  m.config.model.max_length = 100;
  m.objective = make_objective(m.config);
  expect_facts(m.objective->fit(Side::source, 7, "it"), {"7", "6"});
}

}  // namespace
}  // namespace heed
