#include "show/gradient_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/json.h"
#include "base/std_names.h"

namespace heed {

vector<Json> check_gradients(const Transformer& model, const ParamVec<double>& values,
                             const Batch& batch, double smoothing) {
  Workspace workspace;
  ParamVec<double> gradients(values.size());
  {
    Pass<double> pass{.values = values, .workspace = workspace, .gradients = &gradients};
    TransformerSaved<double> saved;
    train_micro_batch(model, pass, batch, {smoothing, 1.0 / batch.scored()}, saved);
  }
  const double largest = largest_of({gradients.data(), gradients.size()});
  ParamVec<double> moved = copy_as<double>(values);
  const auto objective = [&] {
    WorkspaceScope scope(workspace);
    Pass<double> pass{.values = moved, .workspace = workspace};
    TransformerSaved<double> saved;
    const Mat<double> hidden = model.forward(pass, batch, saved);
    const LossSums sums = loss(pass, model.output, hidden, batch.labels, smoothing);
    return sums.objective / double(sums.tokens);
  };
  const double noise = rounding_noise(objective());
  vector<Json> checks;
  for (const ParamInfo& info : model.table.infos()) {
    const span<const double> g(gradients.data() + info.param.offset, info.param.size());
    double* v = moved.data() + info.param.offset;
    const double floor = gradient_floor(g, largest, noise);
    size_t worst_entry = 0, cannot_tell = 0;
    GradientVerdict worst{true, false, -1, 0};
    for (size_t i = 0; i < g.size(); ++i) {
      const auto found = check_gradient(
          g[i], floor, [&](double h) { return central_difference(v[i], objective, h); });
      cannot_tell += !found.right && !found.wrong;
      const bool worse = pair(found.wrong, found.error) > pair(worst.wrong, worst.error);
      if (!worse) continue;
      worst = found;
      worst_entry = i;
    }
    checks.push_back({{"tensor", info.name},
                      {"entries", g.size()},
                      {"cannot_tell", cannot_tell},
                      {"worst_error", worst.error},
                      {"worst_entry", worst_entry},
                      {"analytic", g[worst_entry]},
                      {"numeric", worst.numeric},
                      {"ok", !worst.wrong}});
  }
  return checks;
}

double smallest_relu_input(const Transformer& model, const ParamVec<double>& values,
                           const Batch& batch) {
  double smallest = INFINITY;
  if (!has_corner(model.config.activation)) return smallest;
  Workspace workspace;
  Pass<double> pass{.values = values, .workspace = workspace};
  TransformerSaved<double> saved;
  model.forward(pass, batch, saved);
  for (const StackSaved<double>* stack : {&saved.encoder, &saved.decoder})
    for (const BlockSaved<double>& block : stack->blocks) {
      const Mat<double> u = block.feed_forward.u;  // with a gate: its input, then the gated part
      for (int r = 0; r < u.rows; ++r)
        for (int c = 0; c < model.config.d_ff; ++c) smallest = min(smallest, abs(u(r, c)));
    }
  return smallest;
}

}  // namespace heed
