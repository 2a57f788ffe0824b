// Which steps have a frame. tests/cli/film_test.py checks the films of runs.
#include "show/film.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace heed {
namespace {

// The steps that have a frame after a run that validates every `eval_every` steps.
std::vector<std::int64_t> frames(std::int64_t steps, std::int64_t eval_every) {
  std::vector<std::int64_t> film;
  for (std::int64_t step = 0; step <= steps; ++step)
    if (is_frame(step, step > 0 && step % eval_every == 0, film.empty() ? -1 : film.back()))
      film.push_back(step);
  return film;
}

TEST(FilmFrames, AreAtPowersOfTwoAndAtValidations) {
  EXPECT_THAT(frames(20, 6), testing::ElementsAre(0, 1, 2, 4, 6, 8, 12, 16));
  EXPECT_FALSE(is_frame(2, true, 2));  // not twice
}

TEST(FilmFrames, AreSpreadToTheEndOfARun) {
  for (const std::int64_t steps : {420, 1000, 5000, 100'000})
    for (const std::int64_t eval_every : {steps / 100, steps / 12}) {
      const auto film = frames(steps, eval_every);
      for (std::size_t i = 1; i < film.size(); ++i)
        EXPECT_LE(film[i] - film[i - 1], steps / 4 + eval_every) << steps;
      EXPECT_GE(film.back(), steps - steps / 4);
    }
}

TEST(FilmFrames, AreFewInALongRun) {
  EXPECT_LT(frames(1'000'000, 10).size(), 80u);
}

}  // namespace
}  // namespace heed
