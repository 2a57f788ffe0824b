#include "show/gradient_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/json.h"
#include "show/pull.h"

namespace heed {
namespace {

// Adds `step` to one score S_ij of the first sequence. With s = P_ij (e^step - 1):
// o_i becomes (o_i + s v_j) / (1 + s)
struct MovedScore : Observer<double> {
  AttentionKind kind{};
  int layer = 0, head = 0, i = 0, j = 0;
  double step = 0;

  void on_head(const Head& h, Mat<double> output) override {
    if (h.kind != kind || h.layer != layer || h.head != head) return;
    const double s = h.weights(i, j) * std::expm1(step);
    for (int c = 0; c < output.cols; ++c)
      output(i, c) = (output(i, c) + s * h.values(j, c)) / (1 + s);
  }
};

LossSums batch_loss(const Transformer& model, Pass<double> pass, const Batch& batch,
                    double smoothing = 0) {
  WorkspaceScope scope(pass.workspace);
  TransformerSaved<double> saved;
  const Mat<double> hidden = model.forward(pass, batch, saved);
  return loss(pass, model.output, hidden, batch.labels, smoothing);
}

// Entries of a tensor, spread evenly: its gradient g against numeric(i, h).
template <class Numeric>
Json checked(const std::string& name, std::span<const double> g, std::size_t entries, double floor,
             Numeric&& numeric) {
  std::size_t worst_entry = 0, cannot_tell = 0;
  double analytic = 0;
  GradientVerdict worst{true, false, 0, 0};
  for (std::size_t k = 0; k < entries; ++k) {
    const std::size_t i = k * g.size() / entries;
    const auto v = check_gradient(g[i], floor, [&](double h) { return numeric(i, h); });
    cannot_tell += !v.right && !v.wrong;
    const bool worse = std::pair(v.wrong, v.error) > std::pair(worst.wrong, worst.error);
    if (!worse) continue;
    worst = v;
    worst_entry = i;
    analytic = g[i];
  }
  return {{"tensor", name},
          {"entries", entries},
          {"cannot_tell", cannot_tell},
          {"worst_error", worst.error},
          {"worst_entry", worst_entry},
          {"analytic", analytic},
          {"numeric", worst.numeric},
          {"ok", !worst.wrong}};
}

}  // namespace

std::vector<Json> check_gradients(const Transformer& model, const ParamVec<double>& values,
                                  const Batch& batch, double smoothing,
                                  std::size_t entries_per_tensor) {
  Workspace workspace;
  ParamVec<double> gradients(values.size());
  {
    Pass<double> pass{.values = values, .workspace = workspace, .gradients = &gradients};
    TransformerSaved<double> saved;
    train_micro_batch(model, pass, batch, {smoothing, 1.0 / batch.scored()}, saved);
  }
  const double largest = largest_of({gradients.data(), gradients.size()});
  ParamVec<double> moved(values.size());
  std::copy_n(values.data(), values.size(), moved.data());
  const auto objective = [&] {
    const LossSums sums =
        batch_loss(model, {.values = moved, .workspace = workspace}, batch, smoothing);
    return sums.objective / static_cast<double>(sums.tokens);
  };
  const double noise = rounding_noise(objective());
  std::vector<Json> checks;
  for (const ParamInfo& info : model.table.infos()) {
    const std::size_t size = info.param.size();
    const std::span<const double> g(gradients.data() + info.param.offset, size);
    double* v = moved.data() + info.param.offset;
    const std::size_t n = entries_per_tensor ? std::min(entries_per_tensor, size) : size;
    checks.push_back(
        checked(info.name, g, n, gradient_floor(g, largest, noise),
                [&](std::size_t i, double h) { return central_difference(v[i], objective, h); }));
  }
  return checks;
}

std::vector<Json> check_pull(const Transformer& model, const ParamVec<double>& values,
                             const Example& example) {
  Workspace workspace;
  AttentionMaps maps = empty_maps(model, example);
  add_pull(model, values, example, workspace, maps);
  Batch batch;
  batch.add(example.source, example.target, example.labels);
  MovedScore moved;
  const auto objective = [&] {
    return -batch_loss(model, {.values = values, .workspace = workspace, .observer = &moved}, batch)
                .nll;
  };
  const double noise = rounding_noise(objective());
  double largest = 0;
  for (const AttentionMap& map : maps) largest = std::max(largest, largest_of(map.pull));
  std::vector<Json> checks;
  for (const AttentionKind kind : kAttentionKinds) {
    const AttentionMap& map = map_of(maps, kind);
    const std::size_t size = map.pull.size() / std::max(1, map.layers);
    for (int layer = 0; layer < map.layers; ++layer) {
      const std::span pull(map.pull.data() + layer * size, size);
      const auto slope = [&](std::size_t at, double h) {
        const int row = static_cast<int>(at) / map.keys;
        moved.kind = kind;
        moved.layer = layer;
        moved.head = row / map.queries;
        moved.i = row % map.queries;
        moved.j = static_cast<int>(at) % map.keys;
        return central_difference(moved.step, objective, h);
      };
      checks.push_back(checked(fmt::format("pull of {}, layer {}", attention_name(kind), layer),
                               pull, size, gradient_floor(pull, largest, noise), slope));
    }
  }
  return checks;
}

double smallest_relu_input(const Transformer& model, const ParamVec<double>& values,
                           const Batch& batch) {
  double smallest = std::numeric_limits<double>::infinity();
  if (!has_corner(model.config.activation)) return smallest;
  Workspace workspace;
  Pass<double> pass{.values = values, .workspace = workspace};
  TransformerSaved<double> saved;
  model.forward(pass, batch, saved);
  for (const StackSaved<double>* stack : {&saved.encoder, &saved.decoder})
    for (const BlockSaved<double>& block : stack->blocks) {
      const Mat<double> u = block.feed_forward.u;  // with a gate: its input, then the gated part
      for (int r = 0; r < u.rows; ++r)
        for (int c = 0; c < model.config.d_ff; ++c)
          smallest = std::min(smallest, std::abs(u(r, c)));
    }
  return smallest;
}

}  // namespace heed
