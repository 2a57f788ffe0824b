// The model against PyTorch's values.
#include "nn/golden.h"

#include <set>

namespace heed {
namespace {

using namespace test;

class GoldenModel : public testing::TestWithParam<std::string> {};

template <class T>
void check_model(const std::string& name) {
  const Golden g = read_golden(name);
  const Transformer model = g.model();
  const ParamVec<T> values = initial_golden_values<T>(g, model);
  expect_golden_logits(g, model, values, "");

  ParamVec<T> gradients(model.table.size());
  Workspace workspace;
  Pass<T> pass{.values = values, .workspace = workspace, .gradients = &gradients};
  TransformerSaved<T> saved;
  const LossSums sums =
      train_micro_batch(model, pass, g.batch, {g.smoothing(), 1.0 / g.labels}, saved);
  EXPECT_NEAR(sums.objective / g.labels, g["loss"][0], kGoldenTolerance<T> * g["loss"][0]);
  double squares = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    squares += static_cast<double>(gradients.data()[i]) * gradients.data()[i];
  EXPECT_NEAR(std::sqrt(squares), g["grad_norm"][0], kGoldenTolerance<T> * g["grad_norm"][0]);
  for (const ParamInfo& info : model.table.infos())
    if (is_seen(g, info.name))
      expect_golden(g, "grad." + info.name, gradients.data() + info.param.offset,
                    info.param.size());
}

TEST_P(GoldenModel, LogitsLossAndEveryGradientInDouble) {
  check_model<double>(GetParam());
}
TEST_P(GoldenModel, LogitsLossAndEveryGradientInFloat) {
  check_model<float>(GetParam());
}

// The names and shapes are those of the contract, which the script wrote down independently.
TEST_P(GoldenModel, TensorsHaveTheNamesAndShapesOfTheFile) {
  const Golden g = read_golden(GetParam());
  const Transformer model = g.model();
  std::set<std::string> names;
  for (const ParamInfo& info : model.table.infos()) {
    names.insert(info.name);
    ASSERT_TRUE(g.tensors.contains(info.name)) << info.name;
    const std::vector<int> shape = info.vector ? std::vector<int>{info.param.cols}
                                               : std::vector<int>{info.param.rows, info.param.cols};
    EXPECT_EQ(g.tensors.at(info.name).shape, shape) << info.name;
  }
  for (const auto& [name, tensor] : g.tensors) {
    if (name.starts_with("grad.")) {
      EXPECT_TRUE(names.contains(name.substr(5))) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenModel, testing::ValuesIn(golden_names()),
                         [](const auto& test) { return test.param; });

TEST(GoldenFiles, AreAllThere) {
  EXPECT_GE(golden_names().size(), 13u);
}

}  // namespace
}  // namespace heed
