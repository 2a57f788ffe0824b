// Influences against central differences of whole trainings, all in double.
#include "train/whence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/splits.h"

namespace heed {
namespace {

constexpr int kVocab = 14, kLine = 9, kSteps = 100;

// Most tokens follow from those before them.
Split some_text() {
  Split split(kVocab, kVocab);
  for (int i = 0, x = 5; i < 400; ++i) {
    x = (x * 37 + i / 4 * 11 + 3) % 101;
    split.target.push_back(3 + (i + x % 3) % (kVocab - 3));
  }
  return split;
}

// A training of a tiny model, on lines of kLine tokens.
struct Tiny {
  explicit Tiny(std::vector<std::string> sets) {
    sets.insert(sets.begin(), {"objective.target_length=7", "model.d_model=12", "model.d_ff=10",
                               "model.n_heads=2", "train.shards=3", "model.dropout=0.1",
                               "train.batch_tokens=60", "train.max_steps=100",
                               "objective.label_smoothing=0.1", "optimizer.warmup_steps=5"});
    config = causal_config(sets);
    objective = make_objective(config);
    for (size_t i = 0; i < split.target.size(); ++i) units.of_token.push_back(int(i) / kLine);
    units.all.resize(size_t(units.of_token.back()) + 1);
    batches = std::make_unique<UnitBatches>(*objective, split, config, units);
    model = std::make_unique<Transformer>(config.model, kVocab, kVocab);
    begin = ParamVec<float>(model->table.size());
    initialize(model->table, config.seed, begin);
    answer = answers_of(*model, {{.read = {{}, {1, 4, 5, 7}}, .row = 3, .answer = {8}},
                                 {.read = {{}, {1, 9}}, .row = 1, .answer = {11}}});
  }
  TrainingSetup setup() {
    return {*model, step_options(config), crew, *batches, units.all.size(), kSteps, begin};
  }

  // Phi after a training in which the weight of a unit is 1 + more.
  double phi(size_t unit, double more) {
    const TrainingSetup again = setup();
    LeftOut others(units.all.size(), true);
    others[unit] = false;
    Retraining<double> training(again);
    std::vector<double> all(begin.size());
    for (int step = 1; step <= kSteps; ++step) {
      double* sum = training.gradients.sum().data();
      training.gradient(step);
      for (size_t i = 0; i < all.size(); ++i) all[i] = std::exchange(sum[i], 0.0);
      training.gradient(step, others);
      double squares = 0;
      for (size_t i = 0; i < all.size(); ++i) {
        sum[i] = all[i] + more * sum[i];
        squares += sum[i] * sum[i];
      }
      const double clip = config.optimizer.clip_norm, norm = std::sqrt(squares);
      (clip > 0 && norm > clip ? clipped : not_clipped) += 1;
      if (clip > 0) corner = std::min(corner, std::abs(norm / clip - 1));
      training.update(step, norm);
    }
    ParamVec<double> gradient(begin.size());
    return answer(training.used(), gradient);
  }

  Split split = some_text();
  RunConfig config;
  std::unique_ptr<const Objective> objective;
  Units units;
  std::unique_ptr<UnitBatches> batches;
  std::unique_ptr<Transformer> model;
  ParamVec<float> begin;
  Phi answer;
  Pool pool{1};
  Crew crew{pool};
  int clipped = 0, not_clipped = 0;  // steps
  double corner = 1;                 // how near the gradient's norm came to the clip
};

// Of at most so many units above a hundredth of the largest influence.
void expect_derivatives(Tiny& tiny, size_t most, double more = 1e-3) {
  const std::vector<double> found = influences<double>(tiny.setup(), tiny.answer);
  double largest = 0;
  for (const double x : found) largest = std::max(largest, std::abs(x));
  ASSERT_GT(largest, 1e-3);
  size_t compared = 0;
  for (size_t unit = 0; unit < found.size() && compared < most; ++unit) {
    if (std::abs(found[unit]) < largest / 100) continue;
    const double slope = (tiny.phi(unit, more) - tiny.phi(unit, -more)) / (2 * more);
    EXPECT_NEAR(found[unit], slope, 1e-3 * std::abs(slope)) << "unit " << unit;
    ++compared;
  }
  EXPECT_GE(compared, std::min<size_t>(most, 10));
}

TEST(Whence, TheInfluencesOfAdamwAreTheDerivatives) {
  Tiny tiny({"model.activation=gelu", "optimizer.clip_norm=1.45", "optimizer.eps=1e-4",
             "optimizer.learning_rate=0.005", "train.ema_decay=0.9", "optimizer.weight_decay=0.1"});
  expect_derivatives(tiny, 10, 3e-5);
  EXPECT_GT(tiny.clipped, 0);
  EXPECT_GT(tiny.not_clipped, 0);
  EXPECT_GT(tiny.corner, 0.01);
}

// With a small eps a first step is the sign of its gradient, and weights of 1.001 may turn it.
TEST(Whence, SoAreThoseWithASmallEpsButNotAsFar) {
  Tiny tiny({"model.activation=gelu", "optimizer.learning_rate=0.005"});
  expect_derivatives(tiny, 3, 1e-5);
}

TEST(Whence, SoAreThoseOfTheOtherOptimizers) {
  for (const std::string type : {"adam", "sgd"}) {
    SCOPED_TRACE(type);
    Tiny tiny({"optimizer.type=" + type, "model.activation=silu", "optimizer.clip_norm=0",
               type == "sgd" ? "optimizer.learning_rate=0.3" : "optimizer.learning_rate=0.005"});
    expect_derivatives(tiny, 3);
  }
  Tiny tiny({"optimizer.type=sgd", "model.activation=gelu", "optimizer.clip_norm=0",
             "optimizer.momentum=0.9", "optimizer.weight_decay=0.01",
             "optimizer.learning_rate=0.05"});
  expect_derivatives(tiny, 3);
}

TEST(Whence, LeavingAUnitOutKeepsAllElse) {
  Tiny tiny({"train.ema_decay=0"});
  LeftOut left_out(tiny.units.all.size());
  left_out[3] = left_out[7] = true;
  size_t hidden = 0;
  for (int step = 1; step <= 12; ++step) {
    const StepBatch all = tiny.batches->batch(step);
    const std::vector<int> units = tiny.batches->rows();
    const StepBatch& some = tiny.batches->batch(step, left_out);
    EXPECT_EQ(some.labels, all.labels);
    EXPECT_EQ(tiny.batches->rows(), units);
    size_t row = 0;
    for (size_t shard = 0; shard < all.shards.size(); ++shard)
      for (int i = 0; i < all.used[shard]; ++i) {
        const Batch &whole = all.shards[shard][i], &part = some.shards[shard][i];
        EXPECT_EQ(part.target.ids, whole.target.ids);
        EXPECT_EQ(part.target.row_keys, whole.target.row_keys);
        for (size_t r = 0; r < whole.labels.size(); ++r, ++row) {
          const bool hides = units[row] == 3 || units[row] == 7;
          EXPECT_EQ(part.labels[r], hides ? -1 : whole.labels[r]);
          hidden += hides;
        }
      }
  }
  EXPECT_GE(hidden, 2 * size_t(kLine));
}

TEST(Whence, ALabelKnowsItsTokenOrItsPair) {
  const Split text = counting_text(300);
  for (const RunConfig& config : {causal_config(), masked_config(), text_config({}),
                                  text_config({"objective.type=span_corruption"})}) {
    SCOPED_TRACE(config.objective.type);
    const auto objective = make_objective(config);
    for (int64_t i = 0; i < objective->count(text, 2); ++i) {
      Example e;
      objective->example(text, 2, i, e);
      ASSERT_EQ(e.places.size(), e.labels.size());
      for (size_t r = 0; r < e.labels.size(); ++r) {
        if (e.labels[r] < 0) continue;
        ASSERT_GE(e.places[r], 0);
        ASSERT_LT(e.places[r], 300);
        // Sentinels have ids of their own, below all of the text.
        EXPECT_TRUE(e.labels[r] < 10 || text.target[size_t(e.places[r])] == e.labels[r]);
      }
    }
  }
  const Split pairs = numbered_pairs(40);
  const RunConfig config = pairs_config();
  const auto objective = make_objective(config);
  for (int64_t i = 0; i < 40; ++i) {
    Example e;
    objective->example(pairs, 1, i, e);
    EXPECT_EQ(e.labels[0], 500 + e.places[0]);
    EXPECT_EQ(e.places, std::vector<int64_t>(e.labels.size(), e.places[0]));
  }
}

}  // namespace
}  // namespace heed
