#include "decode/next_token.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace heed {
namespace {

struct Candidate {
  int id;
  double probability;
};

// The tokens that may come.
std::vector<Candidate> possible(std::span<const float> row) {
  std::vector<Candidate> found;
  for (std::size_t id = 0; id < row.size(); ++id)
    if (row[id] > 0) found.push_back({static_cast<int>(id), row[id]});
  return found;
}

std::vector<Candidate> apply(std::vector<double> probabilities, const SamplingRules& rules,
                             const std::vector<int>& banned = {}) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  apply_rules(logits, rules, {}, banned);
  return possible(logits);
}

void expect(const std::vector<Candidate>& found, const std::vector<Candidate>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].id, expected[i].id);
    EXPECT_NEAR(found[i].probability, expected[i].probability, 1e-6);
  }
}

const std::vector<double> kFour{0.1, 0.4, 0.2, 0.3};

TEST(SamplingRules, KeepWhatTheySay) {
  const struct {
    std::vector<double> probabilities;
    SamplingRules rules;
    std::vector<int> banned;
    std::vector<Candidate> kept;
  } cases[] = {
      {kFour, {}, {}, {{0, 0.1}, {1, 0.4}, {2, 0.2}, {3, 0.3}}},
      {kFour, {}, {1}, {{0, 1 / 6.}, {2, 2 / 6.}, {3, 3 / 6.}}},
      {kFour, {.temperature = 0}, {}, {{1, 1.0}}},
      {kFour, {.temperature = 0}, {1}, {{3, 1.0}}},
      {{0.4, 0.2, 0.4}, {.temperature = 0}, {}, {{0, 1.0}}},
      {{0.2, 0.8}, {.temperature = 0.5}, {}, {{0, 0.04 / 0.68}, {1, 0.64 / 0.68}}},  // p^(1/T)
      {kFour, {.top_k = 2}, {}, {{1, 4 / 7.}, {3, 3 / 7.}}},
      {{0.25, 0.25, 0.25, 0.25}, {.top_k = 1}, {}, {{0, 1.0}}},
      {kFour, {.top_p = 0.69}, {}, {{1, 4 / 7.}, {3, 3 / 7.}}},
      {kFour, {.top_p = 0.71}, {}, {{1, 4 / 9.}, {2, 2 / 9.}, {3, 3 / 9.}}},
      {kFour, {.top_p = 1e-9}, {}, {{1, 1.0}}},
      {kFour, {.min_p = 0.6}, {}, {{1, 4 / 7.}, {3, 3 / 7.}}},
      // top-k leaves 0.4 / 0.7 = 0.57 for the first: enough for top-p 0.5, not without top-k.
      {kFour, {.top_k = 2, .top_p = 0.5}, {}, {{1, 1.0}}},
      {kFour, {.top_p = 0.5}, {}, {{1, 4 / 7.}, {3, 3 / 7.}}},
      // Where nothing may follow, the text ends.
      {kFour, {}, {0, 1, 2, 3}, {{Tokenizer::kEos, 1.0}}},
      {kFour, {.temperature = 0}, {0, 1, 2, 3}, {{Tokenizer::kEos, 1.0}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(&c - cases);
    expect(apply(c.probabilities, c.rules, c.banned), c.kept);
  }
}

TEST(SamplingRules, ATopKThatCutsNothingChangesNothing) {
  std::vector<double> p(502, 0.001);
  p[0] = 0.4, p[1] = 0.1;
  for (const int top_k : {0, 1000})  // the small ones count towards top-p before min-p drops them
    expect(apply(p, {.top_k = top_k, .top_p = 0.6, .min_p = 0.1}), {{0, 0.8}, {1, 0.2}});
}

TEST(SamplingRules, AlmostNoTemperatureIsNone) {
  for (const double t : {1e-39, 1e-300})
    for (const int top_k : {0, 5})
      EXPECT_EQ(apply(kFour, {.temperature = t, .top_k = top_k}).at(1).probability, 1.0);
}

TEST(SamplingRules, RepetitionPenaltyLowersWhatOccurredAndStaysFinite) {
  const auto penalized = [](std::vector<float> logits, double penalty, std::vector<int> text) {
    apply_rules(logits, {.repetition_penalty = penalty}, text, {});
    return possible(logits);
  };
  const double sum = std::exp(1.) + std::exp(-2.) + std::exp(2.) + std::exp(-1.);
  expect(penalized({2.0f, -1.0f, 2.0f, -1.0f}, 2, {0, 1, 0}),  // once, however often it occurred
         {{0, std::exp(1.) / sum},
          {1, std::exp(-2.) / sum},
          {2, std::exp(2.) / sum},
          {3, std::exp(-1.) / sum}});
  EXPECT_EQ(penalized({3e38f, 1.0f, 3e38f}, 0.01, {0})[0].probability, 1.0);
  expect(penalized({-3e38f, -3e38f}, 100, {0, 1}), {{0, 0.5}, {1, 0.5}});
}

TEST(SamplingRules, DrawTakesTheShareThatHoldsU) {
  for (const int size : {10, 64, 1000}) {  // one block and many
    std::vector<float> row(size, 0.0f);
    const int a = size / 3, b = size / 2, c = size - 1;
    row[a] = 0.25f, row[b] = 0.5f, row[c] = 0.25f;
    for (const auto& [u, id] :
         {std::pair{0.0, a}, {0.24, a}, {0.25, b}, {0.74, b}, {0.75, c}, {0.9999999, c}})
      EXPECT_EQ(draw(row, u), id) << u << " of " << size;
    row[c] = 0.0f;  // the sum is 0.75
    EXPECT_EQ(draw(row, std::nextafter(1.0, 0.0)), b);
  }
}

TEST(SamplingRules, WhatMayBeWrittenNext) {
  using Ids = std::vector<int>;
  constexpr int kEnd = 2;
  const Ids never = {0, 1};
  const auto banned = [&](const WritingRules& rules, const Ids& text, std::size_t written) {
    return allowed_next(rules, text, written, never, kEnd).banned;
  };
  EXPECT_EQ(banned({}, {5, 6, 5, 6}, 4), never);
  // After 5 6 5 6 comes no third 5 6; and no 6 5 6.
  EXPECT_EQ(banned({.no_repeat = 2}, {5, 6, 5}, 1), (Ids{0, 1, 6}));
  EXPECT_EQ(banned({.no_repeat = 3}, {5, 6, 5, 7, 5, 6}, 0), (Ids{0, 1, 5}));
  EXPECT_EQ(banned({.no_repeat = 1}, {5, 6}, 2), (Ids{0, 1, 5, 6}));
  EXPECT_EQ(banned({.no_repeat = 4}, {5, 5, 5}, 3), never);
  EXPECT_EQ(banned({.min_tokens = 3}, {5, 6, 7}, 2), (Ids{0, 1, kEnd}));
  EXPECT_EQ(banned({.min_tokens = 3}, {5, 6, 7}, 3), never);
  const WritingRules begins{.no_repeat = 1, .min_tokens = 9, .beginning = {5, 5}};
  EXPECT_EQ(allowed_next(begins, Ids{7, 5}, 1, never, kEnd).only, 5);
  EXPECT_EQ(allowed_next(begins, Ids{7, 5, 5}, 2, never, kEnd).only, std::nullopt);
}

// Leaving out what no rule can keep before the sorting must not change what is kept.
TEST(SamplingRules, ALongTailIsCutWhereItMustBe) {
  std::vector<double> p(1000);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += p[i] = std::pow(0.97, (i * 7) % 1000);
  for (double& x : p) x /= sum;
  for (const double top_p : {0.5, 0.9, 0.999, 0.999999}) {
    std::vector<double> sorted = p;
    std::sort(sorted.rbegin(), sorted.rend());
    double left = 0;
    std::size_t n = 0;
    while (left < top_p) left += sorted[n++];
    const auto found = apply(p, {.top_p = top_p});
    ASSERT_NEAR(found.size(), n, top_p > 0.99999 ? 1 : 0) << top_p;
    EXPECT_NEAR(found.front().probability, p[0] / left, 1e-6);
  }
}

}  // namespace
}  // namespace heed
