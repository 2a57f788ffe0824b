// Ten steps of Adam and AdamW against PyTorch's values.
#include "nn/golden.h"
#include "step/optimizers.h"
#include "step/schedule.h"

namespace heed {
namespace {

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
