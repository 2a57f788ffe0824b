#include "inspect/fill.h"

#include "nn/finite.h"

namespace heed {

std::vector<std::vector<ScoredToken>> fill(const TrainedModel& m, const TokenIds& source,
                                           const std::vector<int>& rows, int n) {
  Batch batch;
  batch.add(source, {});
  Workspace workspace;
  TransformerSaved<float> saved;
  Pass<float> pass{.values = m.values, .workspace = workspace, .forward_only = true};
  const Mat<float> hidden = m.model.forward(pass, batch, saved);
  const Mat<float> logits = m.model.output.forward(pass, hidden);
  require_finite(logits);
  const TokenIds never = m.objective->never_written(*m.tokenizers.target);
  std::vector<std::vector<ScoredToken>> found;
  for (const int row : rows)
    found.push_back(
        best_tokens({logits.row(row), static_cast<std::size_t>(logits.cols)}, n, never));
  return found;
}

}  // namespace heed
