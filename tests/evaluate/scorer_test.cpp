#include "evaluate/scorer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "data/splits.h"
#include "nn/models.h"

namespace heed {
namespace {

// The loss one example at a time, one label at a time, in double.
struct SlowSums {
  double nats = 0;
  std::int64_t tokens = 0, judged = 0, right = 0;  // judged: but for </s>
};

SlowSums slow_evaluation(const Transformer& model, const ParamVec<double>& values,
                         const Examples& examples) {
  SlowSums sums;
  for (std::int64_t i = 0; i < examples.count(Objective::kEvaluation); ++i) {
    const Example e = example(examples, Objective::kEvaluation, i);
    Batch batch;
    batch.add(e.source, e.target);
    test::Forward<double> run{model, values, batch};
    const Mat<double> logits = model.output.forward(run.pass, run.hidden);
    for (std::size_t r = 0; r < e.labels.size(); ++r) {
      if (e.labels[r] < 0) continue;
      const double* row = logits.data + r * logits.stride;
      double sum = 0;
      for (int k = 0; k < logits.cols; ++k) sum += std::exp(row[k] - row[e.labels[r]]);
      sums.nats += std::log(sum);
      ++sums.tokens;
      if (e.labels[r] == Tokenizer::kEos) continue;
      ++sums.judged;
      sums.right += std::max_element(row, row + logits.cols) - row == e.labels[r];
    }
  }
  return sums;
}

void check(const RunConfig& config, const Split& split, int vocab) {
  const Transformer model(config.model, vocab, vocab);
  ParamVec<float> values(model.table.size());
  initialize(model.table, 3, values);
  ParamVec<double> exact(model.table.size());
  for (std::size_t i = 0; i < values.size(); ++i) exact.data()[i] = values.data()[i] *= 3.0f;
  const Examples examples(split, config);
  const SlowSums slow = slow_evaluation(model, exact, examples);
  ASSERT_GT(slow.tokens, 0);
  Pool one(1), three(3);
  const Evaluation a = evaluate({model, values}, examples.evaluation(), one);
  EXPECT_EQ(a.sums.tokens, slow.tokens);
  EXPECT_EQ(a.judged, slow.judged);
  EXPECT_EQ(a.right, slow.right);
  const Sums sums = a.counts(1000);
  EXPECT_DOUBLE_EQ(figure("accuracy").of(sums), static_cast<double>(slow.right) / slow.judged);
  EXPECT_NEAR(a.sums.nll / slow.nats, 1.0, 1e-5);
  EXPECT_DOUBLE_EQ(a.loss(), a.sums.nll / static_cast<double>(a.sums.tokens));
  EXPECT_DOUBLE_EQ(figure("perplexity").of(sums), std::exp(a.loss()));
  EXPECT_DOUBLE_EQ(figure("bits_per_byte").of(sums), a.sums.nll / std::numbers::ln2 / 1000);
  for (Pool* pool : {&one, &three}) {
    const Evaluation again = evaluate({model, values}, examples.evaluation(), *pool);
    EXPECT_EQ(again.sums.nll, a.sums.nll);  // bit for bit
    EXPECT_EQ(again.right, a.right);
  }
}

const std::vector<std::string> kSmall = {"model.d_model=8", "model.n_heads=2", "model.d_ff=16",
                                         "model.dropout=0.5", "objective.label_smoothing=0.3"};

std::vector<std::string> small(std::vector<std::string> more) {
  more.insert(more.begin(), kSmall.begin(), kSmall.end());
  return more;
}

// Enough for many chunks; labels and evaluation are never smoothed, dropout is off.
TEST(Scorer, EqualsASlowSumOverEveryToken) {
  const Split text = counting_text(3001);
  const std::string length = "objective.target_length=37";
  check(text_config(small({length, "objective.source_length=20"})), text, 3011);
  check(causal_config(small({length})), text, 3011);
  check(masked_config(small({"objective.source_length=37"})), text, 3011);
  check(pairs_config(small({})), numbered_pairs(300), 1000);
}

}  // namespace
}  // namespace heed
