#include "data/model_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/dataset.h"
#include "data/splits.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

struct Model {
  RunConfig config;
  Tokenizers tokenizers;
};

Model model_of(const std::string& objective) {
  const bool pairs = objective == "seq2seq", masked = objective == "masked_lm";
  const std::string data =
      pairs ? R"("source": "s", "target": "t", "max_length": 5)" : R"("train": "x")";
  Model m;
  m.config = parse_config(R"({"data": {)" + data + R"(}, "objective": {"type": ")" + objective +
                              R"(", "source_length": 4, "target_length": 5}, "model":
      {"encoder_layers": )" + (objective == "causal_lm" ? "0" : "1") +
                              R"(, "decoder_layers": )" + (masked ? "0" : "1") + "}}",
                          "test");
  m.tokenizers.target = train(Type::char_, "abcdefghé", masked);
  return m;
}

TEST(ModelInput, IsWhatTheStacksReadInTraining) {
  for (const char* objective : {"seq2seq", "prefix_lm", "masked_lm"}) {
    const Model m = model_of(objective);
    std::vector<int> expected = m.tokenizers.target->encode("abc");
    if (objective == std::string("seq2seq")) expected.push_back(kEos);
    if (objective == std::string("masked_lm")) expected.insert(expected.begin(), kBos);
    EXPECT_EQ(source_ids(m.config, m.tokenizers, "abc", "--source"), expected) << objective;
  }
  for (const char* objective : {"seq2seq", "prefix_lm", "causal_lm"}) {
    const Model m = model_of(objective);
    std::vector<int> expected = m.tokenizers.target->encode("abc");
    expected.insert(expected.begin(), kBos);
    EXPECT_EQ(target_ids(m.config, m.tokenizers, "abc", "--target"), expected) << objective;
    EXPECT_EQ(target_ids(m.config, m.tokenizers, "", "--target"), std::vector<int>{kBos});
  }
  const Model prefix = model_of("prefix_lm"), masked = model_of("masked_lm");
  EXPECT_EQ(framed_source(prefix.config, {}), std::vector<int>{kBos});
  EXPECT_EQ(source_ids(masked.config, masked.tokenizers, "a[MASK]", "--source")[2],
            masked.tokenizers.target->mask_id());
}

TEST(ModelInput, MistakesAreTold) {
  const struct {
    const char *objective, *text, *message;
  } cases[] = {
      {"seq2seq", "", "--source is empty"},
      {"prefix_lm", "", "--source is empty"},
      {"masked_lm", "", "--source is empty"},
      {"seq2seq", "aZüü", "3 unknown tokens: 'Z', 'ü' (U+00FC)"},
      {"masked_lm", "[MASK]Z", "1 unknown token: 'Z'."},
      {"seq2seq", "abcdefabc", "--source is too long: the model reads at most 6 tokens"},
      {"prefix_lm", "abcde", "at most 4 tokens there, and with <s> or </s> these are 5."},
      {"masked_lm", "abcde", "at most 5 tokens"},
      {"seq2seq", "a\xFF", "UTF-8"},
  };
  for (const auto& [objective, text, message] : cases) {
    const Model m = model_of(objective);
    try {
      source_ids(m.config, m.tokenizers, text, "--source");
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.exit(), Exit::data);
      EXPECT_THAT(e.what(), testing::HasSubstr(message));
    }
  }
}

}  // namespace
}  // namespace heed
