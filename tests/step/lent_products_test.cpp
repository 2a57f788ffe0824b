// Another arithmetic, lent to a stepper: all products of a step go through it.
#include <gtest/gtest.h>

#include "math/row_ops.h"
#include "math/softmax.h"
#include "nn/models.h"
#include "step/stepper.h"

namespace heed {
namespace {

using test::Family;

// Plain loops, which count their operations.
class Loops : public Products<float> {
 public:
  mutable double operations = 0;
  int changes = 0;

  void weights_changed(const float*, std::size_t, Pool&) override { ++changes; }
  void forward(In<float> x, In<float> w, In<float> b, Mat<float> y) const override {
    if (!b.empty()) fill_rows<float>(b, y);
    gemm(1, as_is(x), transposed(w), b.empty() ? 0 : 1, y);
  }
  void backward(In<float> dy, In<float> x, In<float> w, Mat<float> dw,
                Mat<float> dx) const override {
    gemm(1, transposed(dy), as_is(x), 1, dw);
    if (!dx.empty()) gemm(1, as_is(dy), as_is(w), 1, dx);
  }
  void attend(std::span<const AttentionHead<float>> heads, Workspace&) const override {
    for (const AttentionHead<float>& h : heads) {
      const Mat<float> p = h.p.col_range(0, h.k.rows);
      gemm(h.scale, as_is(h.q), transposed(h.k), 0, p);
      for (int i = 0; i < p.rows; ++i) softmax(h.p.row(i), h.visible(i), h.p.cols);
      gemm(1, as_is(p), as_is(h.v), 0, h.o);
    }
  }
  void attend_backward(std::span<const AttentionHead<float>> heads,
                       std::span<const HeadGradients<float>> gradients,
                       Workspace& workspace) const override {
    for (std::size_t n = 0; n < heads.size(); ++n) {
      const AttentionHead<float>& h = heads[n];
      const HeadGradients<float>& g = gradients[n];
      const Mat<float> p = h.p.col_range(0, h.k.rows);
      WorkspaceScope scope(workspace);
      const Mat<float> ds = workspace.matrix<float>(p.rows, p.cols);
      gemm(1, transposed(p), as_is(g.d_o), 1, g.dv);
      gemm(1, as_is(g.d_o), transposed(h.v), 0, ds);
      for (int i = 0; i < p.rows; ++i) {
        float sum = 0;
        for (int j = 0; j < p.cols; ++j) sum += p(i, j) * ds(i, j);
        for (int j = 0; j < p.cols; ++j) ds(i, j) = p(i, j) * (ds(i, j) - sum);
      }
      gemm(h.scale, as_is(ds), as_is(h.k), 1, g.dq);
      gemm(h.scale, transposed(ds), as_is(h.q), 1, g.dk);
    }
  }
  void gemm(float alpha, Operand<float> a, Operand<float> b, float beta,
            Mat<float> c) const override {
    multiply(alpha, a, b, beta, c);
    operations += 2.0 * c.rows * c.cols * a.cols();
  }
  void syrk(float alpha, Operand<float> a, float beta, Mat<float> c) const override {
    multiply(alpha, a, {a.mat, a.op == Op::none ? Op::transpose : Op::none}, beta, c);
    operations += 1.0 * c.rows * c.cols * a.cols();  // half of a symmetric C
  }

 private:
  static void multiply(float alpha, Operand<float> a, Operand<float> b, float beta, Mat<float> c) {
    const auto at = [](const Operand<float>& x, int i, int j) {
      return static_cast<double>(x.op == Op::none ? x.mat(i, j) : x.mat(j, i));
    };
    for (int i = 0; i < c.rows; ++i)
      for (int j = 0; j < c.cols; ++j) {
        double sum = 0;
        for (int k = 0; k < a.cols(); ++k) sum += at(a, i, k) * at(b, k, j);
        c(i, j) = static_cast<float>(alpha * sum + (beta == 0 ? 0 : beta * c(i, j)));
      }
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
  for (const auto& [name, change] : variants)
    for (const Family family :
         {Family::encoder_decoder, Family::decoder_only, Family::encoder_only}) {
      ModelConfig config = test::tiny_config(family);
      SCOPED_TRACE(name);
      change(config);
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
      Stepper usual(model, options, pool);
      Loops loops;
      Stepper lent(model, options, pool, loops);

      const StepResult a = usual.gradient(1, step), b = lent.gradient(1, step);
      EXPECT_EQ(loops.changes, 1);
      EXPECT_DOUBLE_EQ(loops.operations, training_flops(model, batch));
      EXPECT_NEAR(a.sums.objective, b.sums.objective, 1e-5 * a.sums.objective);
      EXPECT_NEAR(a.gradient_norm, b.gradient_norm, 1e-5 * a.gradient_norm);
      loops.operations = 0;
      usual.update(a);
      lent.update(b);
      EXPECT_DOUBLE_EQ(loops.operations, orthogonalizations(model.table));
      for (std::size_t i = 0; i < usual.values().size(); ++i)
        ASSERT_NEAR(usual.values().data()[i], lent.values().data()[i], 1e-3) << i;
    }
}

}  // namespace
}  // namespace heed
