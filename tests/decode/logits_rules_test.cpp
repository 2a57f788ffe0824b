#include "decode/logits_rules.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heed {
namespace {

std::vector<Candidate> apply(std::vector<double> probabilities, const LogitsRules& rules,
                             const std::vector<bool>& occurred = {},
                             const std::vector<int>& banned = {}) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return apply_rules(logits, rules, occurred, banned);
}

void expect(const std::vector<Candidate>& found, const std::vector<Candidate>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].id, expected[i].id);
    EXPECT_NEAR(found[i].probability, expected[i].probability, 1e-6);
  }
}

const std::vector<double> kFour{0.1, 0.4, 0.2, 0.3};

TEST(LogitsRules, NoneLeaveTheSoftmax) {
  expect(apply(kFour, {}), {{0, 0.1}, {1, 0.4}, {2, 0.2}, {3, 0.3}});
}

TEST(LogitsRules, BannedIdsNeverCome) {
  expect(apply(kFour, {}, {}, {1}), {{0, 1 / 6.}, {2, 2 / 6.}, {3, 3 / 6.}});
  expect(apply(kFour, {.temperature = 0}, {}, {1}), {{3, 1.0}});
}

TEST(LogitsRules, TemperatureIsAPower) {
  // p^(1/T): T = 0.5 squares.
  expect(apply({0.2, 0.8}, {.temperature = 0.5}), {{0, 0.04 / 0.68}, {1, 0.64 / 0.68}});
  expect(apply(kFour, {.temperature = 0}), {{1, 1.0}});
  expect(apply({0.4, 0.2, 0.4}, {.temperature = 0}), {{0, 1.0}});
}

TEST(LogitsRules, TopKTopPMinP) {
  expect(apply(kFour, {.top_k = 2}), {{1, 4 / 7.}, {3, 3 / 7.}});
  expect(apply({0.25, 0.25, 0.25, 0.25}, {.top_k = 1}), {{0, 1.0}});
  expect(apply(kFour, {.top_p = 0.69}), {{1, 4 / 7.}, {3, 3 / 7.}});
  expect(apply(kFour, {.top_p = 0.71}), {{1, 4 / 9.}, {2, 2 / 9.}, {3, 3 / 9.}});
  expect(apply(kFour, {.top_p = 1e-9}), {{1, 1.0}});
  expect(apply(kFour, {.min_p = 0.6}), {{1, 4 / 7.}, {3, 3 / 7.}});
}

TEST(LogitsRules, EachSeesWhatTheOneBeforeLeft) {
  // top-k leaves 0.4 / 0.7 = 0.57 for the first: enough for top-p 0.5, not enough without top-k.
  expect(apply(kFour, {.top_k = 2, .top_p = 0.5}), {{1, 1.0}});
  expect(apply(kFour, {.top_p = 0.5}), {{1, 4 / 7.}, {3, 3 / 7.}});
}

TEST(LogitsRules, RepetitionPenaltyLowersWhatOccurred) {
  std::vector<float> logits{2.0f, -1.0f, 2.0f, -1.0f};
  const auto found =
      apply_rules(logits, {.repetition_penalty = 2.0}, {true, true, false, false}, {});
  const double sum = std::exp(1.) + std::exp(-2.) + std::exp(2.) + std::exp(-1.);
  expect(found, {{0, std::exp(1.) / sum},
                 {1, std::exp(-2.) / sum},
                 {2, std::exp(2.) / sum},
                 {3, std::exp(-1.) / sum}});
}

TEST(LogitsRules, DrawTakesTheShareThatHoldsU) {
  const std::vector<Candidate> candidates{{3, 0.25}, {5, 0.5}, {9, 0.25}};
  for (const auto& [u, id] :
       {std::pair{0.0, 3}, {0.24, 3}, {0.25, 5}, {0.74, 5}, {0.75, 9}, {0.9999999, 9}})
    EXPECT_EQ(draw(candidates, u), id) << u;
}

}  // namespace
}  // namespace heed
