#include "show/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "show/central_difference.h"

namespace heed {
namespace {

double mean_loss(const Transformer& model, const ParamVec<double>& values, const Batch& batch,
                 double smoothing, Workspace& workspace) {
  WorkspaceScope scope(workspace);
  Pass<double> pass{.values = values, .workspace = workspace};
  TransformerSaved<double> saved;
  const Mat<double> hidden = model.forward(pass, batch, saved);
  const LossSums sums = loss(pass, model.output, hidden, batch.labels, smoothing);
  return sums.objective / static_cast<double>(sums.tokens);
}

}  // namespace

std::vector<TensorCheck> check_gradients(const Transformer& model, const ParamVec<double>& values,
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
  const auto objective = [&] { return mean_loss(model, moved, batch, smoothing, workspace); };
  const double noise = rounding_noise(objective());
  std::vector<TensorCheck> checks;
  for (const ParamInfo& info : model.table.infos()) {
    const std::size_t size = info.param.size();
    const std::span<const double> g(gradients.data() + info.param.offset, size);
    double* v = moved.data() + info.param.offset;
    const std::size_t n = entries_per_tensor ? std::min(entries_per_tensor, size) : size;
    const double floor = gradient_floor(g, largest, noise);
    TensorCheck check{info.name, n};
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i = k * size / n;
      const double numeric = central_difference(v[i], objective);
      const double error = gradient_error(g[i], numeric, floor);
      if (!(error <= check.worst)) {
        check.worst = error;
        check.worst_entry = i;
        check.analytic = g[i];
        check.numeric = numeric;
      }
    }
    checks.push_back(check);
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
