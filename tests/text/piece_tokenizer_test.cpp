#include "text/piece_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/error_of.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

using testing::HasSubstr;

TEST(PieceTokenizer, VocabSizeBelowTheNeedNamesTheMinimum) {
  TokenizerConfig config;
  for (const Type type : {TokenizerConfig::bpe, TokenizerConfig::unigram}) {
    config.type = type;
    config.vocab_size = 3 + 256 + 3;  // characters: a, b, space, and one more id is needed
    expect_error([&] { train(config, "ab ab ab ba"); }, Exit::usage,
                 {"tokenizer.vocab_size", "262", "263"});
    config.vocab_size = 263;
    EXPECT_LE(train(config, "ab ab ab ba")->size(), 263);
  }
}

TEST(PieceTokenizer, LearnsWholeWordsAndKeepsNewlinesApart) {
  const auto tokenizer = train(TokenizerConfig::bpe, training_text());
  EXPECT_EQ(pieces(*tokenizer, " the river\n the"),
            (std::vector<std::string>{"▁the", "▁river", "<0x0A>", "▁the"}));
}

// Of readings that are equally probable, rounding decides: sums of float32, as the page makes them.
TEST(PieceTokenizer, ProbabilitiesAreSumsOfFloat32) {
  const auto tokenizer =
      tokenizer_of({.unigram = true, .pieces = {{"l", -4.9f}, {"ll", -4.8f}}}, "");
  EXPECT_EQ(pieces(*tokenizer, "lll"), (std::vector<std::string>{"ll", "l"}));
  EXPECT_EQ(pieces(*tokenizer, "lllllll"), (std::vector<std::string>{"ll", "ll", "l", "ll"}));
}

TEST(PieceTokenizer, NoTwoIdsAreShownAlike) {
  for (const Type type : {TokenizerConfig::bpe, TokenizerConfig::unigram}) {
    const auto tokenizer = train(type, training_text() + "e <0x65> <0x20>\n");
    std::set<std::string> shown;
    for (int id = 0; id < tokenizer->size(); ++id) shown.insert(tokenizer->piece(id));
    EXPECT_EQ(static_cast<int>(shown.size()), tokenizer->size());
    EXPECT_TRUE(shown.contains("<0x65>") && shown.contains("e") && shown.contains("<0x20>"));
  }
}

TEST(PieceTokenizer, AMaskTakesTheSpaceBeforeIt) {
  const auto tokenizer = train(TokenizerConfig::bpe, training_text(), true);
  std::vector<int> expected = tokenizer->encode("the old");
  expected.push_back(3);
  for (const int id : tokenizer->encode(" walked")) expected.push_back(id);
  EXPECT_EQ(ids_of(tokenizer->tokens_with_specials("the old [MASK] walked")), expected);
  const auto tokens = tokenizer->tokens_with_specials("the old [MASK] walked");
  const auto mask = std::ranges::find(tokens, 3, &Token::id);
  ASSERT_NE(mask, tokens.end());
  EXPECT_EQ(mask->begin, 7u);
  EXPECT_EQ(mask->end, 14u);
  EXPECT_EQ(mask[1].begin, 14u);
  EXPECT_EQ(tokens.back().end, 21u);
  EXPECT_EQ(ids_of(tokenizer->tokens_with_specials("[MASK][MASK]")), (std::vector<int>{3, 3}));
  const auto without = train(TokenizerConfig::char_, "ab[MASK]");
  EXPECT_EQ(ids_of(without->tokens_with_specials("a[MASK]")), without->encode("a[MASK]"));
}

TEST(PieceTokenizer, LongTextTakesLinearTime) {
  const auto tokenizer = train(TokenizerConfig::bpe, training_text());
  const auto start = std::chrono::steady_clock::now();
  std::string text;  // one line, one word: nowhere to cut
  while (text.size() < 1'000'000) text += "the" + std::to_string(text.size());
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(TokenizerTrainer, SamplesAtMostTheBytesAskedFor) {
  TokenizerConfig config;
  config.type = TokenizerConfig::bpe;
  config.vocab_size = 320;
  config.sample_bytes = 2000;
  const std::string text = training_text();
  const auto trained = [&](std::uint64_t seed) {
    return train_tokenizer(config, false, seed, text);
  };
  EXPECT_THAT(trained(1).note, HasSubstr("a sample of 1.9 KiB"));  // 19.. bytes
  EXPECT_EQ(trained(1).tokenizer->serialize(), trained(1).tokenizer->serialize());
  EXPECT_NE(trained(1).tokenizer->serialize(), trained(2).tokenizer->serialize());
  // However the text is cut into calls, at newlines.
  TokenizerTrainer trainer(config, {}, 1);
  const std::size_t cut = text.find('\n', text.size() / 2) + 1;
  trainer.add(text.substr(0, cut));
  trainer.add(text.substr(cut));
  EXPECT_EQ(trainer.finish().tokenizer->serialize(), trained(1).tokenizer->serialize());
}

}  // namespace
}  // namespace heed
