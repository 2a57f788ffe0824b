// Products lent to a stepper: all those of a step go through them.
#include <gtest/gtest.h>

#include "nn/models.h"
#include "step/stepper.h"

namespace heed {
namespace {

using test::Family;

// Those of OpenBLAS, which count the operations that they are asked for.
class Counting : public Products<float> {
 public:
  mutable double operations = 0;
  int changes = 0;

  void weights_changed(const float*, std::size_t, Pool&) override { ++changes; }
  void forward(In<float> x, In<float> w, In<float> b, Mat<float> y) const override {
    operations += 2.0 * x.rows * x.cols * w.rows;
    Products::forward(x, w, b, y);
  }
  void backward(In<float> dy, In<float> x, In<float> w, Mat<float> dw,
                Mat<float> dx) const override {
    operations += (dx.empty() ? 2.0 : 4.0) * dy.rows * dy.cols * x.cols;
    Products::backward(dy, x, w, dw, dx);
  }
  void attend(std::span<const AttentionHead<float>> heads, Workspace& workspace) const override {
    for (const auto& h : heads) operations += 4.0 * h.q.rows * h.k.rows * h.q.cols;
    Products::attend(heads, workspace);
  }
  void attend_backward(std::span<const AttentionHead<float>> heads,
                       std::span<const HeadGradients<float>> gradients,
                       Workspace& workspace) const override {
    for (const auto& h : heads) operations += 8.0 * h.q.rows * h.k.rows * h.q.cols;
    Products::attend_backward(heads, gradients, workspace);
  }
  void gemm(float alpha, Operand<float> a, Operand<float> b, float beta,
            Mat<float> c) const override {
    operations += 2.0 * c.rows * c.cols * a.cols();
    Products::gemm(alpha, a, b, beta, c);
  }
  void syrk(float alpha, Operand<float> a, float beta, Mat<float> c) const override {
    operations += 1.0 * c.rows * c.cols * a.cols();  // half of a symmetric C
    Products::syrk(alpha, a, beta, c);
  }
};

// Those of muon's matrices (step/newton_schulz.h).
double orthogonalizations(const ParamTable& table) {
  double sum = 0;
  for (const ParamInfo& info : table.infos()) {
    if (info.vector || info.name.find(".layers.") == std::string::npos) continue;
    const double s = std::min(info.param.rows, info.param.cols),
                 l = std::max(info.param.rows, info.param.cols);
    sum += l <= 2 * s ? 15 * l * s * s + 5 * s * s * s : 3 * l * s * s + 29 * s * s * s;
  }
  return sum;
}

TEST(LentProducts, DoAllProductsOfAStep) {
  auto variants = test::block_variants();
  variants["plain"] = test::no_change;
  variants["wide"] = [](ModelConfig& c) { c.d_ff = 40; };
  for (const test::ModelVariant& variant : test::of_every_family(variants)) {
    SCOPED_TRACE(variant.name);
    ModelConfig config = test::tiny_config(variant.family);
    variant.change(config);
    const Transformer model(config, 7, 7);
    const Batch batch = test::tiny_batch(model, false);
    StepBatch step;
    step.shards = {{batch}};
    step.used = {1};
    step.labels = batch.scored();
    StepOptions options;
    options.optimizer.type = "muon";
    options.optimizer.learning_rate = 0.01;
    fill_in_defaults(options.optimizer);
    Pool pool(1);
    Counting counting;
    Stepper stepper(model, options, pool, counting);

    const StepResult result = stepper.gradient(1, step);
    EXPECT_EQ(counting.changes, 1);
    EXPECT_DOUBLE_EQ(counting.operations, training_flops(model, batch));
    counting.operations = 0;
    stepper.update(result);
    EXPECT_DOUBLE_EQ(counting.operations, orthogonalizations(model.table));
  }
}

}  // namespace
}  // namespace heed
