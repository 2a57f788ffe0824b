#include "show/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/splits.h"

namespace heed {
namespace {

using testing::HasSubstr;
using testing::Not;

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
  EXPECT_THAT(overfitting(curves({3, 2, 2.3})), HasSubstr("train.patience"));
}

TEST(Overfitting, IsNotSaidOfNoise) {
  EXPECT_EQ(overfitting(curves({3, 2, 2.1})), "");          // one validation, less than 10 %
  EXPECT_EQ(overfitting(curves({3, 2, 2.5, 2.01})), "");    // it has come back
  EXPECT_EQ(overfitting(curves({3, 2, 2.5, 1.9})), "");     // a new best
  EXPECT_EQ(overfitting(curves({3, 2, 2.005, 2.01})), "");  // less than 1 %
  LoggedEvents solved = curves({3, 2, 2.5, 2.6});
  for (ValidEvent& e : solved.valid) e.accuracy = 1;
  EXPECT_EQ(overfitting(solved), "");
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

TEST(Overfitting, IsNotSaidWhileTheMetricThatChoosesGetsBetter) {
  LoggedEvents c = curves({3, 2, 2.3, 2.4});
  for (std::size_t i = 0; i < c.valid.size(); ++i) {
    c.valid[i].metric = 10.0 + static_cast<double>(i);
    c.valid[i].metric_name = "bleu";
  }
  EXPECT_EQ(overfitting(c), "");
  c.valid[1].metric = 20;
  EXPECT_NE(overfitting(c), "");
}

// A run that has ended at the last validation, after so many times through its data. `planned`: at
// another step.
Advice advice(LoggedEvents c, double passes, std::vector<std::string> sets,
              std::vector<std::int64_t> saved = {}, std::int64_t planned = 0) {
  const std::int64_t end = c.valid.empty() ? 100 : c.valid.back().step;
  for (TrainEvent& e : c.train) e.epoch = passes;
  sets.push_back("train.max_steps=" + std::to_string(planned > 0 ? planned : end));
  std::vector<State> states;
  saved.push_back(end);
  for (const std::int64_t step : saved) states.emplace_back().step = step;
  return advise(
      {.folder = "runs/a b", .config = causal_config(sets), .states = states, .logged = c});
}

constexpr const char* kConstant = "optimizer.schedule=constant";

TEST(Advice, MoreStepsWhereTheBestIsAtTheEndAfterFewPasses) {
  const Advice a = advice(curves({3, 2.5, 2.2}), 4, {kConstant});
  EXPECT_EQ(a.command, "heed resume 'runs/a b' --more 150");
  EXPECT_EQ(advice(curves({3, 2.5, 2.51}), 4, {kConstant}).command, "");  // it is not at the end
  EXPECT_NE(advice({}, 0.016, {kConstant}).command, "");
}

TEST(Advice, NoMoreStepsWhereTheyChangeLittleOrTheDataIsKnown) {
  EXPECT_NE(advice(curves({3, 2.5, 2.3, 2.2}), 4, {kConstant}).command, "");
  const Advice flat = advice(curves({3, 2.21, 2.22, 2.2}), 4, {kConstant});
  EXPECT_EQ(flat.text + flat.command, "");
  LoggedEvents known = curves({3, 2.5, 2.3, 2.2});
  for (TrainEvent& e : known.train) e.loss /= 10;
  EXPECT_EQ(advice(known, 21, {kConstant}).command, "");
  EXPECT_NE(advice(known, 19, {kConstant}).command, "");
  LoggedEvents bleu = curves({3, 2.21, 2.22, 2.2});  // what has a metric may still get better
  for (ValidEvent& e : bleu.valid) e.metric = double(e.step), e.metric_name = "bleu";
  EXPECT_NE(advice(bleu, 4, {kConstant}).command, "");
}

TEST(Advice, NothingWhereThereIsNoiseAlone) {
  for (const auto& [held_out, passes] :
       std::vector<std::pair<std::vector<double>, double>>{{{3, 2.5, 2.51, 2.505, 2.51}, 20},
                                                           {{3, 2.5, 2.4}, 30},
                                                           {{3, 2.5, 2.55, 2.51, 2.52}, 4}}) {
    const Advice a = advice(curves(held_out), passes, {kConstant});
    EXPECT_EQ(a.text + a.command, "");
    EXPECT_THAT(a.way_on, HasSubstr("--more"));
  }
}

TEST(Advice, ALargerModelWhereSimplePredictorsAreAsGood) {
  LoggedEvents c = curves({3, 2.5, 2.51, 2.505, 2.51});
  c.yardsticks = {{"unigram", 3.5, 5}, {"xz", 2.4, 4}};
  EXPECT_THAT(advice(c, 20, {kConstant}).text, HasSubstr("larger model"));
  EXPECT_EQ(advice(c, 20, {kConstant}).command, "");
  EXPECT_THAT(advice(c, 20, {kConstant}).text, HasSubstr("rather than more steps"));
  EXPECT_THAT(advice(c, 19, {kConstant}).text, Not(HasSubstr("steps")));
  LoggedEvents known = c;  // the gap is looked at first
  for (TrainEvent& e : known.train) e.loss = 1.9;
  EXPECT_THAT(advice(known, 30, {kConstant}).text, HasSubstr("more text"));
  EXPECT_THAT(advice(known, 30, {kConstant}).text, Not(HasSubstr("model")));
  c.yardsticks.pop_back();
  EXPECT_EQ(advice(c, 20, {kConstant}).text, "");
}

TEST(Advice, NoMoreStepsOnceTheTextIsMemorised) {
  const Advice a = advice(curves({3, 2, 2.3, 2.4}), 4, {kConstant});
  EXPECT_THAT(a.text, HasSubstr("step 200"));
  EXPECT_THAT(a.text, HasSubstr("heed sample 'runs/a b'"));
  EXPECT_THAT(a.text, HasSubstr("--checkpoint last"));
  EXPECT_THAT(a.text + a.command, Not(HasSubstr("--more")));
}

TEST(Advice, NoStepsAtARateOf0) {
  const std::vector<std::string> cosine = {"optimizer.schedule=cosine"};
  Advice a = advice(curves({3, 2.5, 2.2}), 4, cosine);
  EXPECT_EQ(a.command,
            "heed train 'runs/a b/config.json' --run 'runs/a b-2' --set train.max_steps=600 "
            "--set optimizer.decay_steps=600");
  a = advice(curves({3, 2.5, 2.2}), 4, {cosine[0], "optimizer.min_learning_rate=1e-4"});
  EXPECT_EQ(a.command, "heed resume 'runs/a b' --more 150");
}

TEST(Advice, ARunGoesBackToBeforeItsFall) {
  const std::vector<std::string> wsd = {"optimizer.schedule=wsd"};  // it falls from step 240 on
  EXPECT_EQ(advice(curves({3, 2.5, 2.2}), 4, wsd, {240}).command,
            "heed resume 'runs/a b' --more 150");
  const Advice gone = advice(curves({3, 2.5, 2.2}), 4, wsd, {250});
  EXPECT_THAT(gone.command, HasSubstr("heed train"));
  // Also if its end is a number in the config; one that has not ended just goes on.
  const std::vector<std::string> number = {wsd[0], "optimizer.decay_steps=300"};
  const std::string end = "heed resume 'runs/a b' --more 150 --set optimizer.decay_steps=end";
  EXPECT_EQ(advice(curves({3, 2.5, 2.2}), 4, number, {240}).command, end);
  EXPECT_EQ(advice(curves({3, 2.5}), 4, number, {100}, 300).way_on, "heed resume 'runs/a b'");
}

TEST(Advice, ARunThatIsNotAtItsEndIsResumed) {
  EXPECT_EQ(advice(curves({3, 2.5, 2.2}), 4, {}, {}, 1000).command, "heed resume 'runs/a b'");
}

}  // namespace
}  // namespace heed
