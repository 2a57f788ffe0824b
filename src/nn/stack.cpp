#include "nn/stack.h"

#include <algorithm>
#include <cmath>

#include "nn/embedding.h"

namespace heed {

Stack::Stack(ParamTable& table, const std::string& name, int layers, AttentionKind self_kind,
             bool cross, const ModelConfig& config) {
  InitRule init, out_init;
  if (config.init == Init::gpt2) {
    // Radford et al. 2019, section 2.3: branches are scaled by 1 / sqrt(number of residual
    // branches).
    init = {Fill::normal, 0.02};
    out_init = {Fill::normal, 0.02 / std::sqrt((cross ? 3.0 : 2.0) * std::max(1, layers))};
  }
  blocks.reserve(layers);
  for (int i = 0; i < layers; ++i)
    blocks.emplace_back(table, name + ".layers." + std::to_string(i), self_kind, cross, i, config,
                        init, out_init);
  if (config.norm == NormPlacement::pre && layers > 0)
    norm.emplace(table, name + ".norm", config.d_model);
  if (config.positions == Positions::rotary) rotary_width = config.d_model / config.n_heads;
}

template <class T>
Mat<T> Stack::forward(Pass<T>& pass, Mat<T> x, const Rows& rows, AttentionInput<T> input,
                      StackSaved<T>& saved) const {
  saved.blocks.resize(blocks.size());
  saved.rotary = {};
  if (rotary_width > 0)
    saved.rotary = position_angles<T>(pass.workspace, position_range(rows), rotary_width, true);
  input.rotary = saved.rotary;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Workspace::Mark mark = pass.workspace.mark();
    const Mat<T> y = blocks[i].forward(pass, x, rows, input, saved.blocks[i]);
    if (pass.forward_only) {
      copy_rows(Mat<const T>(y), x);
      pass.workspace.rewind(mark);
    } else {
      x = y;
    }
  }
  if (!norm) return x;
  saved.last = x;
  const auto n = norm->forward(pass, Mat<const T>(x));
  saved.stats = n.stats;
  return n.y;
}

template <class T>
void Stack::backward(Pass<T>& pass, Mat<T> d, const Rows& rows, AttentionInput<T> input,
                     const StackSaved<T>& saved, Mat<T> dmemory) const {
  input.rotary = saved.rotary;
  if (norm) {
    WorkspaceScope scope(pass.workspace);
    const Mat<T> dy = pass.workspace.template rows<T>(d.rows, d.cols);
    copy_rows(Mat<const T>(d), dy);
    set_zero(d);
    norm->backward(pass, Mat<const T>(saved.last), Mat<const T>(saved.stats), Mat<const T>(dy), d);
  }
  for (std::size_t i = blocks.size(); i-- > 0;)
    blocks[i].backward(pass, d, rows, input, saved.blocks[i], dmemory);
}

#define HEED_INSTANTIATE(T)                                                                        \
  template Mat<T> Stack::forward(Pass<T>&, Mat<T>, const Rows&, AttentionInput<T>, StackSaved<T>&) \
      const;                                                                                       \
  template void Stack::backward(Pass<T>&, Mat<T>, const Rows&, AttentionInput<T>,                  \
                                const StackSaved<T>&, Mat<T>) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
