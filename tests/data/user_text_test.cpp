#include "data/user_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    const char *objective, *text, *message;
  } cases[] = {
      {"seq2seq", "", "the text is empty"},
      {"prefix_lm", "", "the text is empty"},
      {"masked_lm", "", "the text is empty"},
      {"seq2seq", "aZüü", "3 unknown tokens: 'Z', 'ü' (U+00FC)"},
      {"masked_lm", "[MASK]Z", "1 unknown token: 'Z'."},
      {"seq2seq", "abcdefabc",
       "the text has 10 tokens, with <s> or </s>; the model reads at most 6."},
      {"prefix_lm", "abcde", "the text has 5 tokens, with <s> or </s>; the model reads at most 4."},
      {"masked_lm", "abcde", "the model reads at most 5."},
      {"seq2seq", "a\xFF", "UTF-8"},
  };
  for (const auto& [objective, text, message] : cases) {
    const Model m = model_of(objective);
    try {
      m.source(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.exit(), Exit::data);
      EXPECT_THAT(e.what(), testing::HasSubstr(message));
    }
  }
}

TEST(UserText, PairsMayBeLongerThanAnyThatWereLearntFrom) {
  const Model m = model_of("seq2seq", "rotary");
  EXPECT_EQ(m.source("abcdefabc").size(), 10u);
  EXPECT_EQ(m.objective->fit(Side::source, 6, "line 3"), "");
  EXPECT_EQ(m.objective->fit(Side::source, 7, "line 3"),
            "line 3 has 7 tokens, with <s> or </s>; the model was trained on at most 6: the result "
            "may be poor and slow");
}

TEST(UserText, PairsWereNotLearntFromAsFarAsThePositionsReach) {
  Model m = model_of("seq2seq", "rotary");
  m.config.model.max_length = 100;
  m.objective = make_objective(m.config);
  EXPECT_THAT(m.objective->fit(Side::source, 7, "it"), testing::HasSubstr("trained on at most 6"));
}

}  // namespace
}  // namespace heed
