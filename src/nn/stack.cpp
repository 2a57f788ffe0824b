#include "nn/stack.h"

#include <algorithm>

#include "base/std_names.h"
#include "nn/embedding.h"

namespace heed {

Stack::Stack(ParamTable& table, const string& name, int layers, AttentionKind self_kind,
             const ModelConfig& config) {
  const int branches = 1 + (has_cross_attention(self_kind, config) ? 1 : 0) +
                       (config.feed_forward != FeedForwardType::none ? 1 : 0);
  const LayerInit init(config, branches * std::max(1, layers));
  blocks.reserve(layers);
  for (int i = 0; i < layers; ++i)
    blocks.emplace_back(table, name + ".layers." + std::to_string(i), self_kind, i, config, init);
  if (config.norm == NormPlacement::pre && layers > 0) norm.emplace(table, name + ".norm", config);
  if (config.positions == Positions::rotary)
    rotary = {
        .width = config.d_model / config.n_heads, .base = config.rope_base, .cos_first = true};
}

// y = norm(block_n(.. block_1(x)))
template <class T>
Mat<T> Stack::forward(Pass<T>& pass, Mat<T> x, AttentionInput<T> input,
                      StackSaved<T>& saved) const {
  saved.blocks.resize(blocks.size());
  saved.rotary = {};
  if (rotary.width > 0)
    saved.rotary = position_angles<T>(pass.workspace, position_range(*input.rows), rotary);
  input.rotary = saved.rotary;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Workspace::Mark mark = pass.workspace.mark();
    const Mat<T> y = blocks[i].forward(pass, x, input, saved.blocks[i]);
    if (pass.observer) pass.observer->on_layer(blocks[i].self_attention.kind, int(i), x, y);
    if (pass.forward_only) {
      copy_rows(y, x);
      pass.workspace.rewind(mark);
    } else {
      x = y;
    }
  }
  if (!norm) return x;
  saved.last = x;
  const auto n = norm->forward(pass, x);
  saved.stats = n.stats;
  return n.y;
}

// dx = block_1'(.. block_n'(norm'(dy)))
template <class T>
void Stack::backward(Pass<T>& pass, Mat<T> d, AttentionInput<T> input,
                     const StackSaved<T>& saved) const {
  input.rotary = saved.rotary;
  if (norm) {
    WorkspaceScope scope(pass.workspace);
    const Mat<T> dy = pass.matrix(d.rows, d.cols);
    copy_rows(d, dy);
    set_zero(d);
    norm->backward(pass, saved.last, saved.stats, dy, d);
  }
  for (size_t i = blocks.size(); i-- > 0;) blocks[i].backward(pass, d, input, saved.blocks[i]);
}

#define HEED_INSTANTIATE(T)                                                                  \
  template Mat<T> Stack::forward(Pass<T>&, Mat<T>, AttentionInput<T>, StackSaved<T>&) const; \
  template void Stack::backward(Pass<T>&, Mat<T>, AttentionInput<T>, const StackSaved<T>&) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
