#include "inspect/gold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "base/temporary_folder.h"
#include "data/dataset.h"
#include "inspect/attention_scores.h"
#include "inspect/scores_text.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

using testing::HasSubstr;

class Gold : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  // A model of pairs whose cross-attention is uniform.
  void pairs(Type type, const std::string& text) {
    config_ = parse_config(R"({"data": {"source": "s", "target": "t"},
      "objective": {"type": "seq2seq"},
      "model": {"d_model": 8, "n_heads": 2, "d_ff": 8, "encoder_layers": 1, "decoder_layers": 1,
                "attention": {"cross": {"uniform": true}}}})",
                           "test");
    config_.tokenizer.type = type;
    tokenizers_.target = train(type, text);
  }
  TemporaryFolder folder_;
  RunConfig config_;
  Tokenizers tokenizers_;
};

// Characters of "ab c" are 0 a, 1 b, 2 space, 3 c; words are 0 "ab", 1 "c".
TEST_F(Gold, UnitsBecomeTokensAndRowsPredictTheirToken) {
  pairs(Type::char_, "ab cdx yz\n");
  const GoldFiles files{file("g", R"({"line":0,"unit":"token","alignment":[[1],[0]]})"
                                  "\n"
                                  R"({"line":1,"unit":"char","alignment":[[],[1,0]]})"
                                  "\n"),
                        file("s", "ab c\nxy\n"), file("t", "d ab\nzx\n"), 0};
  const auto sets = read_gold(files, config_, tokenizers_);
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0].kind, AttentionKind::cross);
  ASSERT_EQ(sets[0].examples.size(), 2u);
  const GoldExample& first = sets[0].examples[0];
  // Row 0 predicts "d" (gold "c"), rows 2 and 3 predict "a" and "b" (gold "ab"); row 1 the space.
  ASSERT_EQ(first.links.size(), 3u);
  EXPECT_EQ(first.links[0].query, 0);
  EXPECT_EQ(first.links[0].keys, std::vector<int>{3});
  EXPECT_EQ(first.links[1].query, 2);
  EXPECT_EQ(first.links[1].keys, (std::vector<int>{0, 1}));
  EXPECT_EQ(first.links[2].query, 3);
  EXPECT_EQ(first.distractors.size(), 2u);
  EXPECT_EQ(first.input.source.size(), 5u);  // with </s>
  EXPECT_EQ(first.input.target.size(), 4u);  // <s> and all but the last
  EXPECT_EQ(first.input.target.front(), Tokenizer::kBos);
  const GoldExample& second = sets[0].examples[1];
  ASSERT_EQ(second.links.size(), 1u);
  EXPECT_EQ(second.links[0].query, 1);
  EXPECT_EQ(second.links[0].keys, (std::vector<int>{0, 1}));
}

TEST_F(Gold, UniformHeadsScoreWhatUniformAttentionDoes) {
  pairs(Type::word, "a b c\n");
  const GoldFiles files{file("g", R"({"line":0,"unit":"token","alignment":[[2],[0,1]]})"),
                        file("s", "a b c\n"), file("t", "c a\n"), 0};
  const Transformer model(config_.model, tokenizers_.target->size(), tokenizers_.target->size());
  ParamVec<float> values(model.table.size());
  initialize(model.table, 1, values);
  const auto sets = read_gold(files, config_, tokenizers_);
  const KindScores scores = score_heads(model, values, values, sets[0]);
  EXPECT_EQ(scores.links, 2u);
  ASSERT_EQ(scores.heads.size(), 2u);
  // 4 keys with </s>: one gold key, then two. 1 - 2 (1/4 + 2/4) / (2 + 3) = 0.7
  for (const Score& s : {scores.uniform, scores.heads[0].trained, scores.heads[1].untrained}) {
    EXPECT_NEAR(s.mass.value, 0.375, 1e-6);
    EXPECT_NEAR(s.accuracy.value, 0.375, 1e-6);
    EXPECT_NEAR(s.aer.value, 0.7, 1e-6);
    EXPECT_FALSE(s.mass.interval);  // one line says nothing about others
  }
  EXPECT_THAT(scores.notes, testing::Contains(HasSubstr("no intervals: fewer than 10 lines")));
  EXPECT_THAT(scores_json({scores}), HasSubstr(R"("low":null)"));
  EXPECT_THAT(scores_json({scores}), Not(HasSubstr("any_mass")));
  // The gold of the other row: two keys, then one.
  EXPECT_NEAR(scores.heads[0].shuffled.mass.value, 0.375, 1e-6);
}

TEST_F(Gold, PronounsLookBackAtTheirNoun) {
  config_ = parse_config(R"({"data": {"train": "x"}, "model": {"encoder_layers": 1,
    "decoder_layers": 1, "d_model": 8, "n_heads": 2}, "objective": {"source_length": 4,
    "target_length": 5}, "tokenizer": {"type": "word"}})",
                         "test");
  const std::string text = "A fox saw a cat and she ran.\n";
  tokenizers_.target = train(Type::word, text);
  const GoldFiles files{
      file("g", R"({"story":[0,28],"pronoun":[20,23,"she"],"noun":[[12,15,"cat"]]})"
                "\n"
                R"({"story":[0,28],"pronoun":[20,23,"she"],"noun":[[2,5,"fox"]]})"),
      file("text", text), "", 0};
  const auto sets = read_gold(files, config_, tokenizers_);
  ASSERT_EQ(sets.size(), 2u);
  // Words: A fox saw a cat and she. The encoder has room for "a cat and she".
  ASSERT_EQ(sets[0].examples.size(), 1u);
  const GoldExample& encoder = sets[0].examples[0];
  EXPECT_EQ(encoder.links[0].query, 3);
  EXPECT_EQ(encoder.links[0].keys, std::vector<int>{1});
  EXPECT_THAT(sets[0].notes, testing::ElementsAre(HasSubstr("1 pronouns left out")));
  // The decoder reads "<s> a cat and she" after "A fox saw".
  const GoldExample& decoder = sets[1].examples[0];
  EXPECT_EQ(decoder.links[0].query, 4);
  EXPECT_EQ(decoder.links[0].keys, std::vector<int>{2});
  EXPECT_EQ(decoder.input.target.front(), Tokenizer::kBos);
  EXPECT_EQ(decoder.input.source, tokenizers_.target->encode("A fox saw"));
}

TEST_F(Gold, IntervalsNeedTenLinesAndDecoysMayBeMissing) {
  pairs(Type::word, "a b c\n");
  std::string gold, sources, targets;
  for (int i = 0; i < 10; ++i) {
    const std::string line = std::to_string(i);
    // The first line has one link, and so no gold of another position to mistake it for.
    gold += R"({"line":)" + line + R"(,"unit":"token","alignment":)" +
            (i == 0 ? "[[0],[]]}" : "[[1],[0]]}") + "\n";
    sources += "a b\n";
    targets += "b a\n";
  }
  const GoldFiles files{file("g", gold), file("s", sources), file("t", targets), 0};
  const Transformer model(config_.model, tokenizers_.target->size(), tokenizers_.target->size());
  ParamVec<float> values(model.table.size());
  initialize(model.table, 1, values);
  const KindScores scores =
      score_heads(model, values, values, read_gold(files, config_, tokenizers_)[0]);
  ASSERT_TRUE(scores.uniform.mass.interval);
  EXPECT_NEAR(scores.uniform.mass.interval->low, 1.0 / 3, 1e-6);
  EXPECT_EQ(scores.links, 19u);
  EXPECT_EQ(scores.heads[0].shuffled.links, 18u);
  EXPECT_FALSE(scores.heads[0].shuffled.mass.interval);  // nine lines
  const std::string table = scores_table({scores});
  EXPECT_THAT(table, HasSubstr("18 links\n"));
  EXPECT_THAT(table, Not(HasSubstr("19 links\n")));
}

// "it" is the fox, named twice; the cat is the only wrong answer.
TEST_F(Gold, OtherMentionsOfTheReferentAreRightAnswers) {
  config_ = parse_config(R"({"data": {"train": "x"}, "model": {"encoder_layers": 0,
    "decoder_layers": 1, "d_model": 8, "n_heads": 2, "attention": {"decoder_self": {"uniform":
    true}}}, "objective": {"type": "causal_lm"}, "tokenizer": {"type": "word"}})",
                         "test");
  const std::string text = "A fox saw a cat and it hid so the fox ran and it sat and she ate\n";
  tokenizers_.target = train(Type::word, text);
  const GoldFiles files{
      file("g", R"({"story":[0,64],"pronoun":[20,22],"noun":[[2,5]],"mentions":[[2,5]]})"
                "\n"
                R"({"story":[0,64],"pronoun":[46,48],"noun":[[34,37]],"mentions":[[2,5],[34,37]]})"
                "\n"
                R"({"story":[0,64],"pronoun":[57,60],"noun":[[12,15]],"mentions":[[12,15]]})"),
      file("text", text), "", 0};
  const auto sets = read_gold(files, config_, tokenizers_);
  ASSERT_EQ(sets.size(), 1u);
  ASSERT_EQ(sets[0].examples.size(), 3u);
  const GoldExample& second = sets[0].examples[1];  // rows: <s>, then the words
  EXPECT_EQ(second.links[0].keys, std::vector<int>{11});
  EXPECT_EQ(second.links[0].also_right, (std::vector<int>{2, 11}));
  EXPECT_EQ(second.distractors, std::vector<std::vector<int>>{{5}});
  EXPECT_EQ(sets[0].examples[2].distractors, (std::vector<std::vector<int>>{{2}, {11}}));
  const Transformer model(config_.model, tokenizers_.target->size(), tokenizers_.target->size());
  ParamVec<float> values(model.table.size());
  initialize(model.table, 1, values);
  const KindScores scores = score_heads(model, values, values, sets[0]);
  // Of 8, 15 and 18 visible rows.
  const double noun = (1.0 / 8 + 1.0 / 15 + 1.0 / 18) / 3, any = noun + 1.0 / 15 / 3;
  for (const Score& s : {scores.uniform, scores.heads[1].trained}) {
    EXPECT_NEAR(s.mass.value, noun, 1e-6);
    EXPECT_NEAR(s.any_mass.value, any, 1e-6);
  }
  EXPECT_THAT(scores_table({scores}), HasSubstr("mass on any"));
  EXPECT_THAT(scores_json({scores}), HasSubstr("any_accuracy"));
}

// What is too long is left out before its units are looked for in it.
TEST_F(Gold, LongLinesAreLeftOut) {
  pairs(Type::word, "a b c\n");
  config_.model.max_length = 16;
  config_.data.max_length = 15;
  std::string many;
  for (int i = 0; i < 40; ++i) many += i % 2 == 1 ? "a " : "b ";
  const GoldFiles files{file("g", R"({"line":0,"unit":"token","alignment":[[0]]})"
                                  "\n"
                                  R"({"line":1,"unit":"token","alignment":[[1],[0]]})"),
                        file("s", many + "\na b\n"), file("t", many + "\nb a\n"), 0};
  const auto sets = read_gold(files, config_, tokenizers_);
  EXPECT_EQ(sets[0].examples.size(), 1u);
  EXPECT_THAT(sets[0].notes, testing::Contains(HasSubstr("1 lines left out: longer")));
}

TEST_F(Gold, WhatDoesNotFitIsAnError) {
  pairs(Type::word, "a b c\n");
  const std::string source = file("s", "a b\n"), target = file("t", "b a\n");
  const struct {
    const char *gold, *message;
  } cases[] = {
      {"", "is empty"},
      {"nonsense", ":1:2: this is not JSON"},
      {"7", ":1: expected a JSON object; found 7"},
      {"{}", ":1: \"alignment\" is missing"},
      {R"({"line":0,"unit":"token","alignment":[[0],[1]]})"
       "\n{}",
       "has 2 lines, but"},
      {R"({"line":1,"unit":"token","alignment":[[0],[1]]})", "\"line\" must be"},
      {R"({"line":0,"unit":"byte","alignment":[[0],[1]]})", "\"unit\" must be"},
      {R"({"line":0,"unit":"token","alignment":[[0]]})", "is about 1 target positions"},
      {R"({"line":0,"unit":"token","alignment":[[0],[2]]})", "must be a whole number below 2"},
      {R"({"line":0,"unit":"token","alignment":[[0],[-1]]})", "must be a whole number below 2"},
      {R"({"line":0,"unit":"token","alignment":[[0],1]})", "must be a list"},
  };
  for (const auto& [gold, message] : cases) {
    try {
      read_gold({file("g", gold), source, target, 0}, config_, tokenizers_);
      ADD_FAILURE() << gold;
    } catch (const Error& e) {
      EXPECT_EQ(e.exit(), Exit::data) << e.what();
      EXPECT_THAT(e.what(), HasSubstr(message));
    }
  }
}

}  // namespace
}  // namespace heed
