#include "data/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/splits.h"

namespace heed {
namespace {

using testing::ElementsAre;

constexpr int kMask = 3;
constexpr std::int64_t kEvaluation = Objective::kEvaluation;

// All labels of an epoch that are scored, sorted.
std::vector<int> scored(const Examples& examples, std::int64_t epoch) {
  std::vector<int> all;
  for (std::int64_t i = 0; i < examples.count(epoch); ++i)
    for (int label : example(examples, epoch, i).labels)
      if (label >= 0) all.push_back(label);
  std::sort(all.begin(), all.end());
  return all;
}

// The order of the examples of an epoch, identified by their last label.
std::vector<int> order(const Examples& examples, std::int64_t epoch) {
  std::vector<int> all;
  for (std::int64_t i = 0; i < examples.count(epoch); ++i)
    all.push_back(example(examples, epoch, i).labels.front());
  return all;
}

TEST(Objective, PrefixLmReadsWhatStandsBeforeATile) {
  const Split text = counting_text(10);
  const RunConfig c = text_config({"objective.source_length=3", "objective.target_length=4"});
  const Examples examples(text, c);
  ASSERT_EQ(examples.count(kEvaluation), 3);
  Example e = example(examples, kEvaluation, 0);
  EXPECT_THAT(e.source, ElementsAre(kBos));
  EXPECT_THAT(e.target, ElementsAre(kBos, 10, 11, 12));
  EXPECT_THAT(e.labels, ElementsAre(10, 11, 12, 13));
  e = example(examples, kEvaluation, 1);
  EXPECT_THAT(e.source, ElementsAre(11, 12, 13));
  EXPECT_THAT(e.target, ElementsAre(kBos, 14, 15, 16));
  EXPECT_THAT(e.labels, ElementsAre(14, 15, 16, 17));
  e = example(examples, kEvaluation, 2);
  EXPECT_THAT(e.source, ElementsAre(15, 16, 17));
  EXPECT_THAT(e.target, ElementsAre(kBos, 18));
  EXPECT_THAT(e.labels, ElementsAre(18, 19));
  EXPECT_EQ(e.tokens(), 5);
}

TEST(Objective, CausalLmPredictsEachTokenFromTheOneBefore) {
  const Split text = counting_text(5);
  const Examples examples(text, causal_config({"objective.target_length=3"}));
  ASSERT_EQ(examples.count(kEvaluation), 2);
  Example e = example(examples, kEvaluation, 0);
  EXPECT_TRUE(e.source.empty());
  EXPECT_THAT(e.target, ElementsAre(kBos, 10, 11));
  EXPECT_THAT(e.labels, ElementsAre(10, 11, 12));
  e = example(examples, kEvaluation, 1);
  EXPECT_THAT(e.target, ElementsAre(12, 13));
  EXPECT_THAT(e.labels, ElementsAre(13, 14));
}

TEST(Objective, Seq2seqFramesSentences) {
  const Split pairs = sentence_pairs({{{10, 11}, {20}}, {{12}, {21, 22, 23}}});
  const Examples examples(pairs, pairs_config());
  ASSERT_EQ(examples.count(kEvaluation), 2);
  Example e = example(examples, kEvaluation, 0);
  EXPECT_THAT(e.source, ElementsAre(10, 11, kEos));
  EXPECT_THAT(e.target, ElementsAre(kBos, 20));
  EXPECT_THAT(e.labels, ElementsAre(20, kEos));
  e = example(examples, kEvaluation, 1);
  EXPECT_THAT(e.source, ElementsAre(12, kEos));
  EXPECT_THAT(e.target, ElementsAre(kBos, 21, 22, 23));
  EXPECT_THAT(e.labels, ElementsAre(21, 22, 23, kEos));
}

TEST(Objective, AnEpochScoresEveryTokenOnce) {
  for (int n : {1, 2, 3, 7, 8, 9, 16, 17, 63, 64, 65, 200})
    for (int length : {1, 2, 3, 8, 64, 1000}) {
      const Split text = counting_text(n);
      const std::string tile = set("objective.target_length", length);
      const Examples prefix(text, text_config({tile}));
      const Examples causal(text, causal_config({tile}));
      std::vector<int> all(n);
      for (int i = 0; i < n; ++i) all[i] = 10 + i;
      for (std::int64_t epoch = -1; epoch < 12; ++epoch) {
        ASSERT_EQ(scored(prefix, epoch), all) << n << " " << length << " epoch " << epoch;
        ASSERT_EQ(scored(causal, epoch), all) << n << " " << length << " epoch " << epoch;
      }
    }
}

TEST(Objective, EpochsDifferInOffsetAndOrder) {
  const Split text = counting_text(400);
  const Examples examples(text, text_config({"objective.target_length=8"}));
  std::vector<std::size_t> offsets(8);
  for (std::int64_t epoch = 0; epoch < 64; ++epoch) {
    const std::vector<int> now = order(examples, epoch);
    EXPECT_FALSE(std::is_sorted(now.begin(), now.end()));
    EXPECT_NE(now, order(examples, epoch + 1));
    EXPECT_EQ(now, order(examples, epoch));
    ++offsets[(*std::max_element(now.begin(), now.end()) - 10) % 8];
  }
  EXPECT_GE(std::count_if(offsets.begin(), offsets.end(), [](auto n) { return n > 0; }), 6);
  const std::vector<int> natural = order(examples, kEvaluation);
  EXPECT_TRUE(std::is_sorted(natural.begin(), natural.end()));
  EXPECT_EQ(natural.size(), 50u);
}

TEST(Objective, TheSeedMakesTheOrder) {
  const Split pairs = numbered_pairs(100);
  const Examples one(pairs, pairs_config()), other(pairs, pairs_config({"seed=2"}));
  std::vector<int> a = order(one, 0), b = order(other, 0), c = order(one, 1);
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  for (std::vector<int>* x : {&a, &b, &c}) std::sort(x->begin(), x->end());
  EXPECT_EQ(a, b);
  EXPECT_EQ(a, c);
}

struct Masking {
  int chosen = 0, masked = 0, random = 0, same = 0;
  std::vector<int> places;
};

Masking masking(const Split& text, const Examples& examples, std::int64_t epoch) {
  Masking m;
  for (std::int64_t i = 0; i < examples.count(epoch); ++i) {
    const Example e = example(examples, epoch, i);
    EXPECT_TRUE(e.target.empty());
    EXPECT_EQ(e.source.size(), e.labels.size());
    EXPECT_EQ(e.source.front(), kBos);
    EXPECT_EQ(e.labels.front(), -1);
    for (std::size_t j = 1; j < e.labels.size(); ++j) {
      const int label = e.labels[j], shown = e.source[j];
      if (label < 0) {
        EXPECT_GE(shown, 10);  // ordinary text stays as it is
        continue;
      }
      ++m.chosen;
      m.places.push_back(label);
      m.masked += shown == kMask;
      m.same += shown == label;
      m.random += shown != kMask && shown != label;
      EXPECT_GE(shown, kMask);  // never <unk>, <s>, </s>
      EXPECT_LT(shown, static_cast<int>(text.target.size()) + 10);
    }
  }
  std::sort(m.places.begin(), m.places.end());
  return m;
}

TEST(Objective, MaskedLmMasksAsBertDoes) {
  const int n = 40000;
  const Split text = counting_text(n);
  const RunConfig c = masked_config({"objective.mask_fraction=0.15", "objective.source_length=64"});
  const Examples examples(text, c);
  const Masking m = masking(text, examples, 0);
  // Six standard deviations of a binomial.
  EXPECT_NEAR(m.chosen, 0.15 * n, 6 * std::sqrt(0.15 * 0.85 * n));
  EXPECT_NEAR(m.masked, 0.8 * m.chosen, 6 * std::sqrt(0.16 * m.chosen));
  EXPECT_NEAR(m.random, 0.1 * m.chosen, 6 * std::sqrt(0.09 * m.chosen));
  EXPECT_NEAR(m.same, 0.1 * m.chosen, 6 * std::sqrt(0.09 * m.chosen));
  EXPECT_EQ(std::adjacent_find(m.places.begin(), m.places.end()), m.places.end());

  EXPECT_NE(masking(text, examples, 1).places, m.places);
  EXPECT_EQ(masking(text, examples, 0).places, m.places);
  EXPECT_EQ(masking(text, examples, kEvaluation).places,
            masking(text, examples, kEvaluation).places);
}

// Draws from the vocabulary, as an objective may.
class LastIdFirst final : public TextObjective {
 public:
  explicit LastIdFirst(const RunConfig& c) : TextObjective(c, {.longest_target = 8}, 8) {}
  TokenIds framed_source(TokenIds tokens) const override { return tokens; }
  Question question(const Split&, int, int) const override { return {}; }

 private:
  void read_tile(const Ids& text, Tile tile, std::int64_t, Example& out) const override {
    out.target.push_back(text.vocab() - 1);
    text.copy(tile.begin, tile.end, out.labels);
  }
};

TEST(Objective, ALineIsScoredWithTheVocabularyOfItsTokenizer) {
  const LastIdFirst objective(text_config({}));
  EXPECT_THAT(objective.score({}, {5, 6}, 50).examples[0].target, ElementsAre(49));
}

}  // namespace
}  // namespace heed
