#include "show/loss_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/splits.h"

namespace heed {
namespace {

using testing::HasSubstr;

TEST(Curves, OfVeryManyEventsKeepEverySpike) {
  LoggedEvents c;
  for (int step = 1; step <= 100'000; ++step)
    c.train.push_back({.step = step, .loss = step % 7 ? 1.0 : kNotMeasured, .gradient_norm = 2});
  c.train[33'333].loss = 99;
  c.train[77'777].gradient_norm = 0.5;
  const ShortJson train = curves_json(c)["train"];
  const std::vector<int> steps = train["steps"];
  EXPECT_LT(steps.size(), 5'000u);
  EXPECT_TRUE(std::ranges::is_sorted(steps));
  EXPECT_EQ(steps.front(), 1);
  EXPECT_EQ(steps.back(), 100'000);
  const auto at = [&](int step) { return std::ranges::find(steps, step) - steps.begin(); };
  EXPECT_EQ(train["loss"].at(at(33'334)), 99);
  EXPECT_EQ(train["gradient_norm"].at(at(77'778)), 0.5f);
  c.train.resize(4'000);
  EXPECT_EQ(curves_json(c)["train"]["steps"].size(), 4'000u);
}

TEST(TrainingLossNote, NamesWhatDiffersBetweenTheCurves) {
  const auto note = [](std::vector<std::string> sets) {
    return training_loss_note(text_config(sets));
  };
  EXPECT_THAT(note({"model.dropout=0.2"}), HasSubstr("with dropout"));
  EXPECT_THAT(note({"model.dropout=0"}), Not(HasSubstr("dropout")));
  EXPECT_THAT(note({"model.dropout=0", "model.attention_dropout=0.1"}), HasSubstr("with dropout"));
  EXPECT_THAT(note({"train.ema_decay=0.9"}), HasSubstr("averaged weights"));
  EXPECT_THAT(note({"objective.label_smoothing=0.1"}), HasSubstr("label smoothing"));
  EXPECT_THAT(note({}), Not(testing::AnyOf(HasSubstr("averaged"), HasSubstr("smoothing"))));
}

}  // namespace
}  // namespace heed
