#include "show/frame_calendar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace heed {
namespace {

// The steps that have a frame after a run that validates every `eval_every` steps; `from`: the
// frames that it begins with.
std::vector<std::int64_t> frames(std::int64_t steps, std::int64_t eval_every, double cost,
                                 std::vector<FrameStep> film = {}) {
  for (std::int64_t step = film.empty() ? 0 : film.back().step + 1; step <= steps; ++step) {
    const bool validated = step > 0 && step % eval_every == 0;
    if (!is_frame(film, step, validated, cost)) continue;
    film.push_back({step, validated});
    const auto too_many = surplus(film, cost);
    std::erase_if(film, [&](const FrameStep& f) { return too_many.contains(f.step); });
  }
  std::vector<std::int64_t> found;
  for (const FrameStep& frame : film) found.push_back(frame.step);
  return found;
}

TEST(FilmFrames, AreAtPowersOfTwoAndAtValidations) {
  EXPECT_THAT(frames(20, 6, 0.5), testing::ElementsAre(0, 1, 2, 4, 6, 8, 12, 16, 18));
}

TEST(FilmFrames, AreSpreadToTheEndOfARun) {
  for (const double cost : {0.1, 2.0, 1e6})
    for (const std::int64_t steps : {420, 1000, 5000, 100'000})
      for (const std::int64_t eval_every : {steps / 100, steps / 12}) {
        const auto film = frames(steps, eval_every, cost);
        for (std::size_t i = 1; i < film.size(); ++i)
          EXPECT_LE(film[i] - film[i - 1], steps / 4 + eval_every) << cost << " " << steps;
        EXPECT_GE(film.back(), steps - steps / 4);
      }
}

TEST(FilmFrames, AreFewInALongRun) {
  EXPECT_LT(frames(1'000'000, 10, 0.1).size(), 50u);
  EXPECT_LT(frames(2000, 1, 10).size(), 25u);
}

TEST(FilmFrames, DoNotDependOnWhereTheRunWasCut) {
  for (const double cost : {0.1, 2.0}) {
    const auto whole = frames(1500, 10, cost), first = frames(1000, 10, cost);
    std::vector<FrameStep> cut;
    for (const std::int64_t step : first)
      if (step <= 800) cut.push_back({step, step > 0 && step % 10 == 0});
    EXPECT_EQ(frames(1500, 10, cost, cut), whole);
  }
}

TEST(FilmFrames, AreNotMadeTwice) {
  EXPECT_FALSE(is_frame({{0, false}, {1, false}, {2, true}}, 2, true, 0.1));
  EXPECT_FALSE(is_frame({{0, false}}, 0, false, 0.1));
}

}  // namespace
}  // namespace heed
