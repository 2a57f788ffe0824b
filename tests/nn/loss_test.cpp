// The loss of many rows: chunks, rows that are not scored, log-probabilities.
#include <cmath>

#include "base/error_of.h"
#include "math/buffer.h"
#include "nn/loss.h"
#include "nn/models.h"

namespace heed {
namespace {

using test::Buffer;

constexpr int kLossVocab = 11, kWidth = 8;

struct Outcome {
  LossSums sums;
  std::vector<double> log_probs, gradients;
  Buffer<double> dhidden;
};

class Loss : public testing::Test {
 protected:
  Loss()
      : model_(config(), kLossVocab, kLossVocab), values_(test::lively_values<double>(model_, 1)) {}

  static ModelConfig config() {
    ModelConfig c = test::tiny_config(test::Family::decoder_only);
    c.decoder_layers = 1;
    c.tie = Tie::none;
    return c;
  }
  Outcome run(const Buffer<double>& hidden, const std::vector<int>& labels, bool backward) {
    constexpr LossOptions options{0.1, 0.5};
    Outcome o{{}, {}, {}, Buffer<double>(hidden.rows(), kWidth)};
    o.dhidden.fill(99);  // overwritten
    ParamVec<double> gradients(model_.table.size());
    Workspace workspace;
    Pass<double> pass{.values = values_, .workspace = workspace, .gradients = &gradients};
    o.log_probs.resize(labels.size());
    o.sums = loss(pass, model_.output, hidden.view(), labels, options.smoothing,
                  RowSeen<double>([&](int row, std::span<const double>, double nll) {
                    EXPECT_GE(labels[row], 0);
                    o.log_probs[row] = -nll;
                  }));
    if (backward) {
      const LossSums again =
          loss_backward(pass, model_.output, hidden.view(), labels, options, o.dhidden.mat());
      EXPECT_EQ(again.objective, o.sums.objective);
      EXPECT_EQ(again.nll, o.sums.nll);
    }
    o.gradients.assign(gradients.data(), gradients.data() + gradients.size());
    return o;
  }
  static std::vector<int> labels(int rows) {
    std::vector<int> l(rows);
    for (int r = 0; r < rows; ++r) l[r] = static_cast<int>(combine(4, r) % kLossVocab);
    return l;
  }

  Transformer model_;
  ParamVec<double> values_;
};

TEST_F(Loss, EqualsTheSumOverRowsOfLogSoftmax) {
  const int rows = 600;  // more than two chunks
  const auto hidden = Buffer<double>::random(rows, kWidth, 2, 2.0);
  const auto y = labels(rows);
  const Outcome o = run(hidden, y, false);
  const Mat<const double> w = std::as_const(values_)[model_.output.weight];
  double plain = 0, smoothed = 0;
  for (int r = 0; r < rows; ++r) {
    std::vector<double> logits(kLossVocab, 0.0);
    double exps = 0, mean = 0;
    for (int k = 0; k < kLossVocab; ++k) {
      for (int c = 0; c < kWidth; ++c) logits[k] += hidden(r, c) * w(k, c);
      exps += std::exp(logits[k]);
      mean += logits[k] / kLossVocab;
    }
    const double log_p = logits[y[r]] - std::log(exps);
    EXPECT_NEAR(o.log_probs[r], log_p, 1e-12);
    plain -= log_p;
    smoothed += 0.9 * -log_p + 0.1 * (std::log(exps) - mean);
  }
  EXPECT_NEAR(o.sums.nll, plain, 1e-9);
  EXPECT_NEAR(o.sums.objective, smoothed, 1e-9);
  EXPECT_EQ(o.sums.tokens, rows);
}

// Rows that are not scored, few or most, change nothing for the others, and get no gradient.
TEST_F(Loss, UnscoredRowsInBetweenChangeNothing) {
  const int scored = 300;
  const auto dense = Buffer<double>::random(scored, kWidth, 5, 2.0);
  const auto dense_labels = labels(scored);
  const Outcome expected = run(dense, dense_labels, true);
  for (int gap : {1, 2, 7}) {  // a run of `gap` unscored rows after every `gap`-th scored one
    std::vector<int> at, y;    // row of each scored one
    for (int i = 0; i < scored; ++i) {
      at.push_back(static_cast<int>(y.size()));
      y.push_back(dense_labels[i]);
      if (i % gap == 0) y.insert(y.end(), gap, -1);
    }
    auto hidden = Buffer<double>::random(static_cast<int>(y.size()), kWidth, 6);
    for (int i = 0; i < scored; ++i)
      for (int c = 0; c < kWidth; ++c) hidden(at[i], c) = dense(i, c);
    const Outcome o = run(hidden, y, true);
    EXPECT_EQ(o.sums.tokens, scored);
    EXPECT_NEAR(o.sums.objective, expected.sums.objective, 1e-10);
    EXPECT_NEAR(o.sums.nll, expected.sums.nll, 1e-10);
    for (std::size_t i = 0; i < o.gradients.size(); ++i)
      ASSERT_NEAR(o.gradients[i], expected.gradients[i], 1e-11);
    int next = 0;
    for (int r = 0; r < hidden.rows(); ++r) {
      const bool is_scored = next < scored && at[next] == r;
      ASSERT_NEAR(o.log_probs[r], is_scored ? expected.log_probs[next] : 0, 1e-12);
      for (int c = 0; c < kWidth; ++c)
        ASSERT_NEAR(o.dhidden(r, c), is_scored ? expected.dhidden(next, c) : 0, 1e-12);
      next += is_scored;
    }
    EXPECT_TRUE(o.dhidden.padding_untouched());
  }
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Finite, OneNumberAnywhereInTheRowsIsFound) {
  auto rows = Buffer<float>::random(3, 37, 1, 3e38);  // NaN between the rows does not count
  require_finite(rows.view());
  for (const float bad : {kNaN, kInfinity, -kInfinity})
    for (const int at : {0, 31, 36}) {
      const float usual = rows(1, at);
      rows(1, at) = bad;
      expect_error([&] { require_finite(rows.view()); }, Exit::diverged, {"--checkpoint"});
      rows(1, at) = usual;
    }
  require_finite(Mat<float>());
}

// Also a logit that takes no part in -log p(label).
TEST(Finite, OneLogitAnywhereInALossIsFound) {
  ParamTable table;
  const Linear output(table.add_matrix("lm_head.weight", 3, 1, {}));
  ParamVec<float> values(table.size());
  Workspace workspace;
  Pass<float> pass{.values = values, .workspace = workspace, .forward_only = true};
  Buffer<float> hidden(2, 1);
  hidden.fill(2);
  const auto sums = [&] { return loss(pass, output, hidden.view(), {-1, 0}); };
  require_finite(sums().objective);
  for (const float bad : {kNaN, 3e38f, -3e38f})
    for (int at = 0; at < 3; ++at) {
      values.data()[at] = bad;
      expect_error([&] { require_finite(sums().objective); }, Exit::diverged, {"--checkpoint"});
      values.data()[at] = 0;
    }
}

}  // namespace
}  // namespace heed
