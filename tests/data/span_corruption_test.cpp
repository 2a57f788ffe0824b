#include "data/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "data/splits.h"

namespace heed {
namespace {

using testing::ElementsAre;

constexpr int kSentinel0 = Tokenizer::kFirstFurther;  // sentinel 0
constexpr int kFirstWord = 20'000;                    // ids of the text begin here: no sentinel
constexpr std::int64_t kScored = Objective::kEvaluation;

RunConfig span_config(int length, double fraction, double mean) {
  return text_config({"objective.type=span_corruption", key_is("objective.source_length", length),
                      "objective.mask_fraction=" + std::to_string(fraction),
                      "objective.mean_span=" + std::to_string(mean)});
}

// What an example reveals about its tile.
struct Read {
  TokenIds tile;
  std::vector<std::size_t> spans;  // lengths
};

// Puts the spans of the labels in the places of the sentinels.
Read put_back(const Example& e) {
  Read read;
  std::vector<TokenIds> spans;
  for (const int label : e.labels)
    if (label < kFirstWord)
      spans.emplace_back();
    else
      spans.back().push_back(label);
  std::size_t i = 0;
  for (const int id : e.source) {
    if (id >= kFirstWord) {
      read.tile.push_back(id);
      continue;
    }
    EXPECT_EQ(id, kSentinel0 + static_cast<int>(i));
    read.tile.insert(read.tile.end(), spans[i].begin(), spans[i].end());
    read.spans.push_back(spans[i++].size());
  }
  return read;
}

// Computed by another program from the definition of the draws: what a run does when it is resumed
// must not change from one version to the next.
TEST(SpanCorruption, DrawsAreTheseForever) {
  const Split text = counting_text(26, 20);
  const Examples examples(text, span_config(12, 0.4, 2));
  ASSERT_EQ(examples.count(kScored), 3);
  const Example one = example(examples, kScored, 0);
  EXPECT_THAT(one.source, ElementsAre(20, 21, 22, 23, 24, 3, 28, 4, 30, 5));
  EXPECT_THAT(one.target, ElementsAre(kBos, 3, 25, 26, 27, 4, 29, 5, 31, 6));
  EXPECT_THAT(one.labels, ElementsAre(3, 25, 26, 27, 4, 29, 5, 31, 6, kEos));
  const Example two = example(examples, kScored, 1);
  EXPECT_THAT(two.source, ElementsAre(3, 33, 34, 4, 38, 39, 5, 41, 42, 43));
  EXPECT_THAT(two.labels, ElementsAre(3, 32, 4, 35, 36, 37, 5, 40, 6, kEos));
  const Example three = example(examples, kScored, 2);
  EXPECT_THAT(three.source, ElementsAre(3, 45));
  EXPECT_THAT(three.labels, ElementsAre(3, 44, 4, kEos));
}

TEST(SpanCorruption, SourceAndTargetTogetherAreTheTile) {
  for (const int n : {1, 2, 3, 4, 7, 16, 64, 333})
    for (const double fraction : {0.01, 0.15, 0.5, 0.9, 1.0})
      for (const double mean : {1.0, 1.5, 3.0, 100.0}) {
        SCOPED_TRACE(testing::Message() << n << " " << fraction << " " << mean);
        const Split text = counting_text(n, kFirstWord);
        const Examples examples(text, span_config(n, fraction, mean));
        const ObjectiveTraits& traits = examples.objective->traits();
        const Example e = example(examples, kScored, 0);
        const Read read = put_back(e);
        EXPECT_EQ(read.tile, part(text.target, 0, static_cast<std::size_t>(n)));

        const auto spans = static_cast<long>(read.spans.size());
        const auto tokens = static_cast<long>(n + spans) - static_cast<long>(e.source.size());
        if (n == 1) {
          EXPECT_EQ(spans, 0);
        } else {
          EXPECT_EQ(tokens, std::clamp(std::lround(n * fraction), 1L, n - 1L));
          EXPECT_EQ(spans, std::clamp(std::lround(static_cast<double>(tokens) / mean), 1L,
                                      std::min(tokens, n - tokens + 1L)));
        }
        EXPECT_EQ(std::ranges::count(read.spans, 0u), 0);
        for (std::size_t i = 1; i < e.source.size(); ++i)
          EXPECT_TRUE(e.source[i - 1] >= kFirstWord || e.source[i] >= kFirstWord)
              << "two spans meet";

        EXPECT_LE(static_cast<int>(e.source.size()), traits.longest_source);
        EXPECT_EQ(static_cast<int>(e.target.size()), traits.longest_target);
        EXPECT_EQ(e.labels.back(), kEos);
        EXPECT_EQ(e.labels[e.labels.size() - 2], kSentinel0 + spans);
        EXPECT_EQ(e.target, Objective::framed_target({e.labels.begin(), e.labels.end() - 1}));
        EXPECT_EQ(traits.specials.size(),
                  static_cast<std::size_t>(std::ceil(n * fraction / mean)) + 1);
        EXPECT_LT(spans, static_cast<long>(traits.specials.size()));
      }
}

TEST(SpanCorruption, EveryWayToMaskIsEquallyLikely) {
  // 3 of 6 tokens in 2 spans: 6 ways to put the tokens that stay, times 2 lengths of the first.
  const Split text = counting_text(6, kFirstWord);
  const Examples examples(text, span_config(6, 0.5, 1.5));
  std::map<TokenIds, int> seen;
  constexpr int kEpochs = 24'000;
  int whole = 0;
  for (std::int64_t epoch = 0; epoch < kEpochs; ++epoch)
    for (std::int64_t i = 0; i < examples.count(epoch); ++i) {
      const Example e = example(examples, epoch, i);
      if (put_back(e).tile.size() < 6) continue;  // the offset of this epoch cuts the text
      ++seen[e.source];
      ++whole;
    }
  EXPECT_EQ(seen.size(), 12u);
  EXPECT_GT(whole, kEpochs / 8);
  for (const auto& [source, count] : seen)  // six standard deviations
    EXPECT_NEAR(count, whole / 12.0, 6 * std::sqrt(whole / 12.0)) << testing::PrintToString(source);
}

TEST(SpanCorruption, SeedEpochAndTileMakeTheNoiseAndEvaluationIsFixed) {
  const Split text = counting_text(64, kFirstWord);
  RunConfig c = span_config(64, 0.3, 3);
  const Examples examples(text, c);
  const auto source = [](const Examples& of, std::int64_t epoch) {
    Example e;
    std::int64_t i = 0;
    for (std::size_t most = 0; i < of.count(epoch); ++i) {
      const Example other = example(of, epoch, i);
      if (other.source.size() > most) e = other;
      most = e.source.size();
    }
    return e.source;
  };
  EXPECT_EQ(source(examples, kScored), source(examples, kScored));
  EXPECT_EQ(source(examples, 1), source(examples, 1));
  EXPECT_NE(source(examples, 1), source(examples, kScored));
  EXPECT_NE(source(examples, 1), source(examples, 2));
  c.seed = 2;
  EXPECT_NE(source(Examples(text, c), kScored), source(examples, kScored));

  Split twice(kFirstWord + 1, kFirstWord + 1);
  for (int i = 0; i < 128; ++i) twice.target.push_back(kFirstWord);
  const Examples tiles(twice, span_config(64, 0.3, 3));
  EXPECT_NE(example(tiles, kScored, 0).source, example(tiles, kScored, 1).source);
}

TEST(SpanCorruption, ALineIsScoredWithEachTokenMaskedInTurn) {
  const auto objective = make_objective(span_config(3, 0.5, 1));
  const ScoredLine line = objective->score({}, {50, 51, 52, 53}, 60);
  EXPECT_THAT(line.ids, ElementsAre(50, 51, 52, 53));
  ASSERT_EQ(line.examples.size(), 4u);
  EXPECT_THAT(line.examples[1].source, ElementsAre(50, kSentinel0, 52));
  EXPECT_THAT(line.examples[1].target, ElementsAre(kBos, kSentinel0));
  EXPECT_THAT(line.examples[1].labels, ElementsAre(-1, 51));
  EXPECT_THAT(line.examples[3].source, ElementsAre(kSentinel0));
}

}  // namespace
}  // namespace heed
