#include "data/objective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "data/splits.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

TEST(Seq2Seq, NeverWritesWhatWouldEndALine) {
  const std::string text = "one two\nthree four\r\nfive one two\n";
  for (const Type type : {TokenizerConfig::char_, TokenizerConfig::byte, TokenizerConfig::word,
                          TokenizerConfig::bpe, TokenizerConfig::unigram}) {
    const auto tokenizer = train(type, text);
    const TokenIds banned = make_objective(pairs_config())->never_written(*tokenizer);
    EXPECT_GE(banned.size(), 3u) << type;
    for (int id = 0; id < tokenizer->size(); ++id) {
      const std::string written = tokenizer->decode(std::array{id});
      const bool ends = written.find_first_of("\n\r") != std::string::npos;
      EXPECT_EQ(std::count(banned.begin(), banned.end(), id),
                ends || id == Tokenizer::kUnk || id == Tokenizer::kBos)
          << type << " " << id;
    }
  }
}

RunConfig joined_config(std::vector<std::string> sets = {}) {
  sets.push_back("model.encoder_layers=0");
  return pairs_config(sets);
}

TEST(Seq2Seq, ADecoderAloneReadsBothSidesAndLearnsTheTarget) {
  const Split split = sentence_pairs({{{10, 11, 12}, {20, 21}}, {{13}, {}}});
  const Examples examples(split, joined_config());
  const Example e = example(examples, Objective::kEvaluation, 0);
  EXPECT_EQ(e.source, TokenIds());
  EXPECT_EQ(e.target, (TokenIds{kBos, 10, 11, 12, kEos, 20, 21}));
  EXPECT_EQ(e.labels, (TokenIds{-1, -1, -1, -1, 20, 21, kEos}));
  EXPECT_EQ(e.scored(), 3);
  EXPECT_EQ(e.tokens(), 7);
  const Example empty = example(examples, Objective::kEvaluation, 1);
  EXPECT_EQ(empty.target, (TokenIds{kBos, 13, kEos}));
  EXPECT_EQ(empty.labels, (TokenIds{-1, -1, kEos}));

  const ScoredLine line = examples.objective->score({10, 11, 12}, {20, 21}, 30);
  EXPECT_EQ(line.source_ids, (TokenIds{10, 11, 12, kEos}));
  EXPECT_EQ(line.ids, (TokenIds{20, 21, kEos}));
  ASSERT_EQ(line.examples.size(), 1u);
  EXPECT_EQ(line.examples[0].target, e.target);
  EXPECT_EQ(line.examples[0].labels, e.labels);
}

TEST(Seq2Seq, ADecoderAloneHasPositionsForBothSides) {
  const auto traits_of = [](const RunConfig& c) { return make_objective(c)->traits(); };
  const RunConfig learned = joined_config({"data.max_length=5", "model.positions=learned"});
  EXPECT_EQ(learned.model.max_length, 12);  // <s> and </s>
  EXPECT_FALSE(traits_of(learned).encoder());
  EXPECT_TRUE(traits_of(learned).pairs());
  EXPECT_EQ(traits_of(learned).longest_source, 11);
  EXPECT_EQ(traits_of(joined_config({"data.max_length=5"})).trained_on, 12);
  EXPECT_EQ(traits_of(pairs_config({"data.max_length=5"})).trained_on, 6);
}

TEST(Seq2Seq, AReportShowsAPairWhoseTargetIsSeen) {
  const Sentence longer(20, 10);
  const Split split = sentence_pairs(
      {{longer, {20}}, {longer, {21}}, {longer, {22}}, {{11}, {23}}, {{12}, {24}}, {{13}, {25}}});
  const Question q = make_objective(joined_config())->question(split, 8, 8);
  EXPECT_EQ(q.read.labels, (TokenIds{-1, -1, 23, kEos}));
  EXPECT_EQ(q.prompts[1], TokenIds{11});
  EXPECT_EQ(q.expected[1], TokenIds{23});
  EXPECT_EQ(make_objective(pairs_config())->question(split, 8, 8).prompts[1], longer);
}

}  // namespace
}  // namespace heed
