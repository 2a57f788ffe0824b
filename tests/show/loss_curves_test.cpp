#include "show/loss_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/splits.h"

namespace heed {
namespace {

using testing::HasSubstr;

// Held-out losses at steps 100, 200, ...; training loss falls to 1 / step unless it is given.
LoggedEvents curves(const std::vector<double>& held_out, double slope = -1) {
  LoggedEvents c;
  for (std::size_t i = 0; i < held_out.size(); ++i)
    c.valid.push_back({.step = static_cast<std::int64_t>(100 * (i + 1)), .loss = held_out[i]});
  for (int step = 10; step <= 100 * static_cast<int>(held_out.size()); step += 10)
    c.train.push_back({.step = step, .loss = 10 + slope * step / 1000.0});
  return c;
}

TEST(Overfitting, IsSaidOnceHeldOutLossHasClearlyRisen) {
  EXPECT_THAT(overfitting(curves({3, 2, 2.1, 2.2})), HasSubstr("since step 200 (2.000 to 2.200)"));
  EXPECT_THAT(overfitting(curves({3, 2, 2.3})), HasSubstr("since step 200"));
}

TEST(Overfitting, IsNotSaidOfNoise) {
  EXPECT_EQ(overfitting(curves({3, 2, 2.1})), "");          // one validation, less than 10 %
  EXPECT_EQ(overfitting(curves({3, 2, 2.5, 2.01})), "");    // it has come back
  EXPECT_EQ(overfitting(curves({3, 2, 2.5, 1.9})), "");     // a new best
  EXPECT_EQ(overfitting(curves({3, 2, 2.005, 2.01})), "");  // less than 1 %
}

TEST(Overfitting, IsNotSaidWhereTrainingLossRisesTooOrIsNotKnown) {
  EXPECT_EQ(overfitting(curves({3, 2, 2.3, 2.4}, 1)), "");
  LoggedEvents c = curves({3, 2, 2.3, 2.4});
  c.train.clear();
  EXPECT_EQ(overfitting(c), "");
  EXPECT_EQ(overfitting({}), "");
}

TEST(Overfitting, ComparesMeansOfTrainingLosses) {
  LoggedEvents c = curves({3, 2, 2.3, 2.4}, 1);
  c.train.back().loss = 9.5;  // one lucky batch
  EXPECT_EQ(overfitting(c), "");
}

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
