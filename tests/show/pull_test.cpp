// The pull of every score against central differences of the loss, in double.
#include "show/pull.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "nn/models.h"
#include "show/gradient_check.h"

namespace heed {
namespace {

std::map<std::string, test::Change> pulled_variants() {
  auto variants = test::block_variants();
  variants["plain"] = test::no_change;
  variants["post"] = [](ModelConfig& c) { c.norm = NormPlacement::post; };
  variants["rotary"] = [](ModelConfig& c) { c.positions = Positions::rotary; };
  variants["uniform"] = [](ModelConfig& c) {
    c.attention.encoder_self.uniform = c.attention.decoder_self.uniform =
        c.attention.cross.uniform = true;
  };
  return variants;
}

// With rows that are not scored, as those of masked models and of a text's last token.
Example some_example(const Transformer& model) {
  Example e;
  if (model.has_encoder()) e.source = {4, 7, 2, 9, 4};
  if (model.has_decoder()) e.target = {1, 5, 10, 3};
  e.labels = model.has_decoder() ? TokenIds{5, 10, 3, -1} : TokenIds{-1, 3, -1, 8, -1};
  return e;
}

// Adds `step` to one score S_ij of the first sequence. With s = P_ij (e^step - 1):
// o_i becomes (o_i + s v_j) / (1 + s)
struct MovedScore : Observer<double> {
  AttentionKind kind{};
  int layer = 0, head = 0, i = 0, j = 0;
  double step = 0;

  void on_head(const Attention& a, int number, const AttentionHead<double>& h) override {
    if (a.kind != kind || a.layer != layer || number != head) return;
    const double s = h.p(i, j) * std::expm1(step);
    for (int c = 0; c < h.o.cols; ++c) h.o(i, c) = (h.o(i, c) + s * h.v(j, c)) / (1 + s);
  }
};

class Pull : public testing::TestWithParam<test::ModelVariant> {};

TEST_P(Pull, EqualsCentralDifferencesOfTheLossByTheScores) {
  ModelConfig config = test::tiny_config(GetParam().family);
  config.activation = Activation::gelu;
  GetParam().change(config);
  const Transformer model(config, 11, 11);
  const ParamVec<double> values = test::lively_values<double>(model, 3);
  const Example example = some_example(model);
  Workspace workspace;
  AttentionMaps maps = empty_maps(model, example);
  add_pull(model, values, example, workspace, maps);
  Batch batch;
  batch.add(example.source, example.target, example.labels);
  MovedScore moved;
  const auto objective = [&] {
    WorkspaceScope scope(workspace);
    Pass<double> pass{.values = values, .workspace = workspace, .observer = &moved};
    TransformerSaved<double> saved;
    const Mat<double> hidden = model.forward(pass, batch, saved);
    return -loss(pass, model.output, hidden, batch.labels, 0.0).nll;
  };
  const double noise = rounding_noise(objective());
  double largest = 0;
  for (const AttentionMap& map : maps) largest = std::max(largest, largest_of(map.pull));
  for_heads(maps, {}, [&](const AttentionMap& map, int layer, int head) {
    moved.kind = map.kind;
    moved.layer = layer;
    moved.head = head;
    const double floor = gradient_floor(map.pull, largest, noise);
    for (moved.i = 0; moved.i < map.queries; ++moved.i)
      for (moved.j = 0; moved.j < map.keys; ++moved.j) {
        const double pull = map.pulls(layer, head)(moved.i, moved.j);
        const GradientVerdict v = check_gradient(
            pull, floor, [&](double h) { return central_difference(moved.step, objective, h); });
        EXPECT_TRUE(v.right) << attention_name(map.kind) << " " << layer << "." << head << " ["
                             << moved.i << ", " << moved.j << "]: " << pull << ", numeric "
                             << v.numeric;
      }
  });
}

INSTANTIATE_TEST_SUITE_P(Models, Pull, testing::ValuesIn(test::of_every_family(pulled_variants())),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace heed
