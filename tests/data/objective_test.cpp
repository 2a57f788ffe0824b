#include "data/objective.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/splits.h"

namespace heed {
namespace {

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

struct Framed {
  TokenIds source, target, labels;
};

void expect_examples(const Examples& examples, const std::vector<Framed>& expected) {
  ASSERT_EQ(examples.count(kEvaluation), std::ssize(expected));
  for (std::int64_t i = 0; i < std::ssize(expected); ++i) {
    const Example e = example(examples, kEvaluation, i);
    EXPECT_EQ(e.source, expected[i].source) << i;
    EXPECT_EQ(e.target, expected[i].target) << i;
    EXPECT_EQ(e.labels, expected[i].labels) << i;
  }
}

TEST(Objective, PrefixLmReadsWhatStandsBeforeATile) {
  const Split text = counting_text(10);
  expect_examples({text, text_config({"objective.source_length=3", "objective.target_length=4"})},
                  {{{kBos}, {kBos, 10, 11, 12}, {10, 11, 12, 13}},
                   {{11, 12, 13}, {kBos, 14, 15, 16}, {14, 15, 16, 17}},
                   {{15, 16, 17}, {kBos, 18}, {18, 19}}});
}

TEST(Objective, CausalLmPredictsEachTokenFromTheOneBefore) {
  const Split text = counting_text(5);
  expect_examples({text, causal_config({"objective.target_length=3"})},
                  {{{}, {kBos, 10, 11}, {10, 11, 12}}, {{}, {12, 13}, {13, 14}}});
}

TEST(Objective, Seq2seqFramesSentences) {
  const Split pairs = sentence_pairs({{{10, 11}, {20}}, {{12}, {21, 22, 23}}});
  expect_examples({pairs, pairs_config()}, {{{10, 11, kEos}, {kBos, 20}, {20, kEos}},
                                            {{12, kEos}, {kBos, 21, 22, 23}, {21, 22, 23, kEos}}});
}

TEST(Objective, AnEpochScoresEveryTokenOnce) {
  for (int n : {1, 2, 3, 7, 8, 9, 16, 17, 63, 64, 65, 200})
    for (int length : {1, 2, 3, 8, 64, 1000}) {
      const Split text = counting_text(n);
      const std::string tile = key_is("objective.target_length", length);
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

// Overlapping windows.

TEST(CausalLm, WindowsScoreEveryTokenOnceAndShowItEnough) {
  for (const int n : {1, 4, 5, 17, 24}) {
    const Split text = counting_text(n);
    for (const int length : {1, 4, 8}) {
      const auto objective =
          make_objective(causal_config({key_is("objective.target_length", length)}));
      for (int stride = 1; stride <= length; ++stride) {
        const ExampleList windows = objective->evaluation(text, stride);
        std::vector<int> scored;
        for (std::int64_t i = 0; i < windows.count; ++i) {
          Example e;
          windows.get(i, e);
          ASSERT_EQ(e.target.size(), e.labels.size());
          ASSERT_LE(e.labels.size(), length);
          for (std::size_t row = 0; row < e.labels.size(); ++row) {
            if (e.labels[row] < 0) continue;
            scored.push_back(e.labels[row]);
            const int read = e.labels[row] == 10 ? Tokenizer::kBos : e.labels[row] - 1;
            EXPECT_EQ(e.target[row], read);  // the token before it
            EXPECT_GE(static_cast<int>(row) + 1,
                      std::min(e.labels[row] - 10 + 1, length - stride + 1));
          }
        }
        std::vector<int> all(n);
        for (int i = 0; i < n; ++i) all[i] = 10 + i;
        EXPECT_EQ(scored, all) << n << " tokens, windows of " << length << ", stride " << stride;
      }
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
  EXPECT_EQ(make_objective(joined_config({"data.max_length=5"}))->traits().trained_on, 12);
}

TEST(Seq2Seq, AReportShowsAPairWhoseTargetIsSeen) {
  const Sentence longer(20, 10);
  const Split split = sentence_pairs(
      {{longer, {20}}, {longer, {21}}, {longer, {22}}, {{11}, {23}}, {{12}, {24}}, {{13}, {25}}});
  const Question q = make_objective(joined_config())->question(split, {}, 8, 8);
  EXPECT_EQ(q.read.labels, (TokenIds{-1, -1, 23, kEos}));
  EXPECT_EQ(q.prompts[1], TokenIds{11});
  EXPECT_EQ(q.expected[1], TokenIds{23});
  EXPECT_EQ(make_objective(pairs_config())->question(split, {}, 30, 8).prompts[1], longer);
}

}  // namespace
}  // namespace heed
