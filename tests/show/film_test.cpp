#include "show/film.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace heed {
namespace {

// The steps that get a frame in a run that validates every `eval_every` steps.
std::vector<std::int64_t> frames(std::int64_t steps, std::int64_t eval_every, double cost) {
  std::vector<std::int64_t> found;
  FilmLength film;
  for (std::int64_t step = 0; step <= steps; ++step) {
    if (!is_frame(film, step, step > 0 && step % eval_every == 0, cost)) continue;
    found.push_back(step);
    film = {film.frames + 1, step};
  }
  return found;
}

TEST(FilmFrames, AreAtPowersOfTwoAndAtValidations) {
  EXPECT_THAT(frames(20, 6, 0.5), testing::ElementsAre(0, 1, 2, 4, 6, 8, 12, 16, 18));
}

TEST(FilmFrames, AreFewInALongRun) {
  EXPECT_LT(frames(1'000'000, 10, 0.1).size(), 100u);
}

TEST(FilmFrames, TakeTwoPercentOfTheTimeAtMost) {
  for (const double cost : {0.1, 0.5, 1.0, 2.4})
    EXPECT_LE(cost * static_cast<double>(frames(2000, 1, cost).size()), 0.02 * 2000);
}

TEST(FilmFrames, AreTheFirstSixteenWhateverTheyCost) {
  EXPECT_EQ(frames(2000, 1, 1e6).size(), 16u);
  EXPECT_EQ(frames(1 << 20, 1 << 21, 1e6).size(), 16u);
}

TEST(FilmFrames, AreNotMadeTwice) {
  EXPECT_FALSE(is_frame({3, 2}, 2, true, 0.1));
  EXPECT_FALSE(is_frame({1, 0}, 0, false, 0.1));
}

}  // namespace
}  // namespace heed
