#include "step/optimizers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/noise.h"
#include "nn/golden.h"
#include "step/newton_schulz.h"
#include "step/schedule.h"

namespace heed {
namespace {

// A matrix, a vector, a frozen matrix and a matrix longer than a task of the sweep.
ParamTable table() {
  ParamTable t;
  t.add_matrix("matrix", 5, 7, {Initializer::normal, 1.0});
  t.add_vector("vector", 9, Initializer::ones);
  t.add_matrix("frozen", 3, 4, {Initializer::normal, 1.0, true});
  t.add_vector("another", 3, Initializer::zeros);
  t.add_matrix("long", 300, 131, {Initializer::normal, 1.0});
  return t;
}

double gradient(const ParamInfo& info, std::int64_t step, std::size_t i) {
  return info.init.frozen
             ? 0.0
             : uniform01(noise_key(3, Purpose::probe, step), info.param.offset + i) - 0.5;
}

// The formulas one number at a time.
struct Twin {
  double w, m = 0, v = 0, e;
  void step(const OptimizerConfig& c, std::int64_t t, double rate, double g, bool decay,
            double ema) {
    if (decay) w -= rate * c.weight_decay * w;
    if (c.type == "sgd") {
      m = c.momentum * m + g;
      w -= rate * m;
    } else {
      m = c.betas[0] * m + (1 - c.betas[0]) * g;
      v = c.betas[1] * v + (1 - c.betas[1]) * g * g;
      const double m_hat = m / (1 - std::pow(c.betas[0], t)),
                   v_hat = v / (1 - std::pow(c.betas[1], t));
      w -= rate * m_hat / (std::sqrt(v_hat) + c.eps);
    }
    e = ema * e + (1 - ema) * w;
  }
};

void compare(const std::string& type, double weight_decay, double clip, double momentum = 0) {
  OptimizerConfig c;
  c.type = type;
  c.momentum = momentum;
  c.weight_decay = weight_decay;
  c.eps = 1e-3;  // large enough to matter
  const ParamTable t = table();
  ParamVec<double> values(t.size()), gradients(t.size()), average(t.size());
  initialize(t, 5, values);
  std::copy(values.data(), values.data() + t.size(), average.data());
  std::vector<Twin> twins(t.size());
  for (std::size_t i = 0; i < t.size(); ++i) twins[i].w = twins[i].e = values.data()[i];
  const std::vector<Twin> first = twins;
  Pool pool(2);
  Optimizer<double> optimizer(t, c);
  for (std::int64_t step = 1; step <= 12; ++step) {
    const double rate = 0.01 * static_cast<double>(step), ema = 0.9;
    for (const ParamInfo& info : t.infos())
      for (std::size_t i = 0; i < info.param.size(); ++i) {
        const double g = gradient(info, step, i);
        gradients.data()[info.param.offset + i] = g;
        twins[info.param.offset + i].step(c, step, rate, g * clip,
                                          !info.vector && !info.init.frozen, ema);
      }
    optimizer.step(pool, {step, rate, clip, ema}, values, gradients, &average);
    for (std::size_t i = 0; i < t.size(); ++i) EXPECT_EQ(gradients.data()[i], 0.0);
  }
  double worst = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    worst = std::max(worst, std::abs(values.data()[i] - twins[i].w));
    worst = std::max(worst, std::abs(average.data()[i] - twins[i].e));
  }
  EXPECT_LT(worst, 1e-12);
  const ParamInfo& frozen = t.infos()[2];
  for (std::size_t i = 0; i < frozen.param.size(); ++i)
    EXPECT_EQ(values.data()[frozen.param.offset + i], first[frozen.param.offset + i].w);
}

// 1 - 0.999 in float is off by 1e-5 of itself.
TEST(Optimizer, FloatKeepsTheComplementOfBeta) {
  OptimizerConfig c;
  c.type = "adam";
  c.betas = {0.9, 0.999};
  c.weight_decay = 0.0;
  ParamTable t;
  t.add_vector("one", 1, Initializer::zeros);
  ParamVec<float> values(1), gradients(1);
  initialize(t, 5, values);
  Pool pool(1);
  Optimizer<float> optimizer(t, c);
  Twin twin{.w = 0.0, .e = 0.0};
  for (std::int64_t step = 1; step <= 20; ++step) {
    // Falling gradients, so that the remainder of the early ones is visible.
    const float g = std::ldexp(1.0f, static_cast<int>(-step));
    gradients.data()[0] = g;
    twin.step(c, step, 0.001, g, false, 1.0);
    optimizer.step(pool, {step, 0.001}, values, gradients);
  }
  EXPECT_NEAR(values.data()[0] / twin.w, 1.0, 2e-6);
}

TEST(Optimizer, IsItsFormula) {
  compare("adamw", 0.1, 1.0);
  compare("adam", 0.0, 0.7);
  compare("sgd", 0.2, 0.5);
  compare("sgd", 0.2, 0.5, 0.9);
}

ParamTable layer_table() {
  ParamTable t;
  t.add_matrix("embed_tokens.weight", 6, 4, {Initializer::normal, 1.0});
  t.add_matrix("decoder.layers.0.self_attn.q_proj.weight", 4, 4, {Initializer::normal, 1.0});
  t.add_matrix("decoder.layers.0.self_attn.k_proj.weight", 4, 4, {Initializer::normal, 1.0});
  t.add_vector("decoder.layers.0.self_attn.q_proj.bias", 4, Initializer::zeros);
  t.add_matrix("decoder.layers.0.self_attn.v_proj.weight", 4, 4, {Initializer::normal, 1.0, true});
  t.add_matrix("decoder.layers.0.fc1.weight", 9, 4, {Initializer::normal, 1.0});
  t.add_matrix("decoder.layers.0.fc2.weight", 4, 9, {Initializer::normal, 1.0});
  return t;
}

TEST(Optimizer, MuonMovesMatricesOfLayersAndAdamTheRest) {
  OptimizerConfig c;
  c.type = "muon";
  c.momentum = 0.9;
  c.weight_decay = 0.1;
  const ParamTable t = layer_table();
  ParamVec<double> values(t.size()), gradients(t.size());
  initialize(t, 5, values);
  std::vector<double> expected(values.data(), values.data() + t.size()), momentum(t.size());
  Pool pool(2);
  Workspace workspace;
  Optimizer<double> optimizer(t, c);
  for (std::int64_t step = 1; step <= 4; ++step) {
    const double rate = 0.01, clip = 0.7;
    for (const ParamInfo& info : t.infos()) {
      const bool muon = info.name.find("fc") != std::string::npos ||
                        info.name.ends_with("q_proj.weight") ||
                        info.name.ends_with("k_proj.weight");
      ASSERT_EQ(rule_of(c, info).moments[0] == "muon.m.", muon) << info.name;
      const Param p = info.param;
      std::vector<double> direction(p.size());
      for (std::size_t i = 0; i < p.size(); ++i) {
        const std::size_t at = p.offset + i;
        const double g = clip * (gradients.data()[at] = gradient(info, step, i));
        momentum[at] = 0.9 * momentum[at] + g;
        direction[i] = g + 0.9 * momentum[at];
      }
      if (!muon) continue;
      orthogonalize(Mat<double>(direction.data(), p.rows, p.cols), blas_products<double>(),
                    workspace);
      const double length = rate * 0.2 * std::sqrt(std::max(p.rows, p.cols));
      for (std::size_t i = 0; i < p.size(); ++i) {
        double& w = expected[p.offset + i];
        w = (1 - rate * c.weight_decay) * w - length * direction[i];
      }
    }
    optimizer.step(pool, {step, rate, clip}, values, gradients);
  }
  for (const ParamInfo& info : t.infos())
    for (std::size_t i = 0; i < info.param.size(); ++i)
      if (rule_of(c, info).workspace) {
        const std::size_t at = info.param.offset + i;
        EXPECT_NEAR(values.data()[at], expected[at], 1e-12) << info.name;
      }
}

TEST(Optimizer, ClippingIsByTheGlobalNorm) {
  EXPECT_EQ(clip_factor(0.0, 1e30), 1.0);
  EXPECT_EQ(clip_factor(1.0, 0.5), 1.0);
  EXPECT_DOUBLE_EQ(clip_factor(1.0, 4.0), 1.0 / 4.000001);
  EXPECT_EQ(clip_factor(1.0, 0.0), 1.0);
}

// Ten steps of Adam and AdamW against PyTorch's values.

using namespace test;

class GoldenSteps : public testing::TestWithParam<std::string> {};

template <class T>
void check_steps(const std::string& name) {
  const Golden g = read_golden(name);
  const Transformer model = g.model();
  OptimizerConfig config;
  read_fields(JsonText{g.about.at("optimizer"), name},
              fields(config, docs(optimizers()), docs(schedules())));
  ParamVec<T> values = initial_golden_values<T>(g, model), gradients(model.table.size());
  Optimizer<T> optimizer(model.table, config);
  Pool pool(1);
  Workspace workspace;
  TransformerSaved<T> saved;
  const std::vector<double>& losses = g["losses"];
  for (int step = 1; step <= g.about.at("steps"); ++step) {
    Pass<T> pass{.values = values, .workspace = workspace, .gradients = &gradients};
    const LossSums sums =
        train_micro_batch(model, pass, g.batch, {g.smoothing(), 1.0 / g.labels}, saved);
    EXPECT_NEAR(sums.objective / g.labels, losses[step - 1], kGoldenTolerance<T> * losses[0])
        << "step " << step;
    double squares = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i)
      squares += static_cast<double>(gradients.data()[i]) * gradients.data()[i];
    const double clip = clip_factor(config.clip_norm, std::sqrt(squares));
    optimizer.step(pool, {step, config.learning_rate, clip}, values, gradients);
    for (std::size_t i = 0; i < gradients.size(); ++i) ASSERT_EQ(gradients.data()[i], 0);
  }
  expect_golden_logits(g, model, values, "_after");
  for (const ParamInfo& info : model.table.infos())
    if (is_seen(g, info.name))
      expect_golden(g, "after." + info.name, values.data() + info.param.offset, info.param.size());
}

TEST_P(GoldenSteps, TenStepsInDouble) {
  check_steps<double>(GetParam());
}
TEST_P(GoldenSteps, TenStepsInFloat) {
  check_steps<float>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenSteps, testing::ValuesIn(golden_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace heed
