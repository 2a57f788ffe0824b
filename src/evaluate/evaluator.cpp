#include "evaluate/evaluator.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace heed {

double Evaluation::perplexity() const {
  return std::exp(loss());
}

double Evaluation::bits_per_byte(std::uint64_t bytes) const {
  return sums.plain / (std::numbers::ln2 * static_cast<double>(bytes));
}

Evaluation evaluate(const Transformer& model, const ParamVec<float>& values,
                    const Examples& examples, Pool& pool, const std::function<bool()>& stop) {
  return evaluate(
      model, values, examples.count(Examples::kEvaluation),
      [&](std::int64_t i, Example& e) { examples.make(Examples::kEvaluation, i, e); }, pool, stop);
}

Evaluation evaluate(const Transformer& model, const ParamVec<float>& values, std::int64_t count,
                    const std::function<void(std::int64_t, Example&)>& make, Pool& pool,
                    const std::function<bool()>& stop) {
  struct Worker {
    Workspace workspace;
    TransformerSaved<float> saved;
    Batch batch;
    Example example;
  };
  std::vector<Worker> workers(pool.threads());

  // Chunks have a fixed number of examples, so that their sums, added in order, are always the
  // same.
  Example first;
  std::int64_t longest = 1;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 16); ++i) {
    make(i, first);
    longest = std::max<std::int64_t>(longest, first.tokens());
  }
  const std::int64_t chunk = std::max<std::int64_t>(1, kForwardTokens / longest);
  const std::int64_t chunks = (count + chunk - 1) / chunk;
  std::vector<LossSums> sums(chunks);
  std::atomic<bool> stopped{false};
  pool.run(static_cast<int>(chunks), [&](int task, int worker_index) {
    if (stopped || (stop && stop())) {
      stopped = true;
      return;
    }
    Worker& w = workers[worker_index];
    w.batch.clear();
    for (std::int64_t i = task * chunk; i < std::min(count, (task + 1) * chunk); ++i) {
      make(i, w.example);
      const Example& e = w.example;
      if (!e.source.empty())
        w.batch.source.add_sequence(e.source.data(), static_cast<int>(e.source.size()));
      if (!e.target.empty())
        w.batch.target.add_sequence(e.target.data(), static_cast<int>(e.target.size()));
      w.batch.labels.insert(w.batch.labels.end(), e.labels.begin(), e.labels.end());
    }
    WorkspaceScope scope(w.workspace);
    Pass<float> pass{.values = values, .workspace = w.workspace, .forward_only = true};
    const Mat<float> hidden = model.forward(pass, w.batch, w.saved);
    sums[task] = loss(pass, model.output, hidden, w.batch.labels);
  });
  Evaluation total;
  if (!stopped)
    for (const LossSums& s : sums) total.sums += s;
  return total;
}

}  // namespace heed
