#include "step/optimizer.h"

#include <algorithm>
#include <cmath>

#include "base/profile.h"
#include "math/lanes.h"

namespace heed {

double clip_factor(double clip_norm, double gradient_norm) {
  return clip_norm > 0 ? std::min(1.0, clip_norm / (gradient_norm + 1e-6)) : 1.0;
}

int moments_kept(const ParamTable& table, const OptimizerConfig& config) {
  std::size_t most = 0;
  for (const ParamInfo& info : table.infos())
    most = std::max(most, rule_of(config, info).moments.size());
  return static_cast<int>(most);
}

std::size_t optimizer_workspace(const ParamTable& table, const OptimizerConfig& config) {
  std::size_t most = 0;
  for (const ParamInfo& info : table.infos())
    if (const auto numbers = rule_of(config, info).workspace)
      most = std::max(most, numbers(info.param));
  return most;
}

template <class T>
Optimizer<T>::Optimizer(const ParamTable& table, const OptimizerConfig& config,
                        const Products<T>& products, std::size_t begin, std::size_t end)
    : table_(table), config_(config), products_(products), blocks_(weight_blocks(table)) {
  blocks_.resize(std::min(end, blocks_.size()));
  blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(begin));
  for (const WeightBlock& block : blocks_)
    if (block.begin == block.tensor->param.offset && rule_of(config, *block.tensor).workspace)
      matrices_.push_back(block.tensor);
  std::ranges::stable_sort(matrices_, std::greater(),
                           [](const ParamInfo* info) { return info->param.size(); });
  for (int i = 0; i < moments_kept(table, config); ++i) moments_[i] = ParamVec<T>(table.size());
}

template <class T>
void Optimizer<T>::step(Pool& pool, const Update& update, ParamVec<T>& values,
                        ParamVec<T>& gradients, ParamVec<T>* averaged) {
  const auto stretch = [&](const ParamInfo& info, std::size_t begin, std::size_t end) {
    const bool decay = config_.weight_decay > 0 && !info.vector && !info.init.frozen;
    const auto from = [&](ParamVec<T>& all) { return all.data() ? all.data() + begin : nullptr; };
    return Stretch<T>{
        config_,           update,
        products_,         decay ? static_cast<T>(1.0 - update.rate * config_.weight_decay) : T{1},
        from(values),      from(gradients),
        from(moments_[0]), from(moments_[1]),
        end - begin};
  };
  // e <- decay e + (1 - decay) w
  const auto average = [&](std::size_t begin, std::size_t end) {
    if (averaged == nullptr) return;
    T* __restrict e = averaged->data();
    const T* __restrict w = values.data();
    const T decay = static_cast<T>(update.ema_decay), rest = static_cast<T>(1.0 - update.ema_decay);
    for (std::size_t i = begin; i < end; ++i) e[i] = fuse(decay, e[i], rest * w[i]);
  };

  pool.run(static_cast<int>(blocks_.size()), [&](int task, int) {
    const Timed timed(Work::optimizer);
    const auto [begin, end, info] = blocks_[task];
    const UpdateRule& rule = rule_of(config_, *info);
    std::get<UpdateRule::Move<T>>(rule.move)(stretch(*info, begin, end));
    if (!rule.workspace) average(begin, end);
  });
  if (matrices_.empty()) return;
  workspaces_.resize(pool.threads());
  pool.run(static_cast<int>(matrices_.size()), [&](int task, int worker) {
    const Timed timed(Work::optimizer);
    const ParamInfo& info = *matrices_[task];
    const std::size_t begin = info.param.offset, end = begin + info.param.size();
    const auto move = std::get<UpdateRule::MoveMatrix<T>>(rule_of(config_, info).move_matrix);
    move(stretch(info, begin, end), info.param.rows, info.param.cols, workspaces_[worker]);
    average(begin, end);
  });
}

template <class T>
std::vector<typename Optimizer<T>::Moment> Optimizer<T>::moments() {
  std::vector<Moment> all;
  const OptimizerKind& kind = optimizer_of(config_);
  for (std::size_t k = 0; k < std::size(moments_); ++k)
    for (const UpdateRule& rule : kind.rules)
      for (const ParamInfo& info : table_.infos())
        if (&rule == &rule_of(config_, info) && k < rule.moments.size())
          all.push_back(
              {rule.moments[k] + info.name, &info, moments_[k].data() + info.param.offset});
  return all;
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace heed
