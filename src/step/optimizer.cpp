#include "step/optimizer.h"

#include <algorithm>
#include <cmath>

#include "math/lanes.h"
#include "step/newton_schulz.h"

namespace heed {

double clip_factor(double clip_norm, double gradient_norm) {
  return clip_norm > 0 ? std::min(1.0, clip_norm / (gradient_norm + 1e-6)) : 1.0;
}

bool moved_by_muon(const OptimizerConfig& config, const ParamInfo& info) {
  return config.type == OptimizerType::muon && !info.vector && !info.init.frozen &&
         info.name.find(".layers.") != std::string::npos;
}

template <class T>
Optimizer<T>::Optimizer(const ParamTable& table, const OptimizerConfig& config) : config_(config) {
  for (const WeightBlock& block : weight_blocks(table)) {
    const ParamInfo& info = *block.tensor;
    const bool decay = config.weight_decay > 0 && !info.vector && !info.init.frozen;
    parts_.push_back({block, decay, moved_by_muon(config, info)});
  }
  for (const ParamInfo& info : table.infos())
    if (moved_by_muon(config, info)) matrices_.push_back(info.param);
  std::ranges::stable_sort(matrices_, std::greater(), &Param::size);
  const int moments = moments_of(config);
  if (moments > 0) m_ = ParamVec<T>(table.size());
  if (moments > 1) v_ = ParamVec<T>(table.size());
}

// The arrays of a step, and what both of its sweeps need.
template <class T>
struct Optimizer<T>::Sweep {
  T *w, *g, *averaged;  // averaged: may be null
  double rate, ema_decay;

  // e <- decay e + (1 - decay) w
  void average(std::size_t begin, std::size_t end) const {
    if (averaged == nullptr) return;
    T* __restrict e = averaged;
    const T* __restrict from = w;
    const T decay = static_cast<T>(ema_decay), rest = static_cast<T>(1.0 - ema_decay);
    for (std::size_t i = begin; i < end; ++i) e[i] = fuse(decay, e[i], rest * from[i]);
  }
};

// w <- keep w - rate 0.2 sqrt(max(rows, cols)) NS(g), where g holds g + momentum m.
template <class T>
void Optimizer<T>::move_matrix(Param p, const Sweep& s, Workspace& workspace) const {
  orthogonalize(Mat<T>(s.g + p.offset, p.rows, p.cols), workspace);
  const T keep = static_cast<T>(1.0 - s.rate * config_.weight_decay);
  const T length = static_cast<T>(s.rate * 0.2 * std::sqrt(std::max(p.rows, p.cols)));
  T* __restrict w = s.w;
  T* __restrict g = s.g;
  for (std::size_t i = p.offset; i < p.offset + p.size(); ++i) {
    w[i] = fuse(keep, w[i], -length * g[i]);
    g[i] = 0;
  }
  s.average(p.offset, p.offset + p.size());
}

template <class T>
void Optimizer<T>::step(Pool& pool, const Update& update, ParamVec<T>& values,
                        ParamVec<T>& gradients, ParamVec<T>* averaged,
                        std::span<Profile> profiles) {
  const double t = static_cast<double>(update.step), rate = update.rate;
  const T b1 = static_cast<T>(config_.betas[0]), b2 = static_cast<T>(config_.betas[1]);
  // Not 1 - b in T: at 0.9999 that is off by more than a ten-thousandth.
  const T a1 = static_cast<T>(1.0 - config_.betas[0]), a2 = static_cast<T>(1.0 - config_.betas[1]);
  const T step_size = static_cast<T>(rate / (1.0 - std::pow(config_.betas[0], t)));
  const T root = static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(config_.betas[1], t)));
  const T eps = static_cast<T>(config_.eps), factor = static_cast<T>(update.clip);
  const T sgd_rate = static_cast<T>(rate), momentum = static_cast<T>(config_.momentum);
  const Sweep all{values.data(), gradients.data(), averaged ? averaged->data() : nullptr, rate,
                  update.ema_decay};

  const auto sweep = [&](const Part& part) {
    const auto [begin, end, tensor] = part.block;
    const T keep = part.decay ? static_cast<T>(1.0 - rate * config_.weight_decay) : T{1};
    T* __restrict w = values.data();
    T* __restrict g = gradients.data();
    T* __restrict m = m_.data();
    T* __restrict v = v_.data();
    if (part.muon) {  // its momentum; move_matrix() does the rest
      for (std::size_t i = begin; i < end; ++i) {
        const T d = factor * g[i];
        m[i] = fuse(momentum, m[i], d);
        g[i] = fuse(momentum, m[i], d);
      }
      return;
    }
    if (config_.type != OptimizerType::sgd) {
      for (std::size_t i = begin; i < end; ++i) {
        const T d = g[i] * factor;
        g[i] = 0;
        m[i] = fuse(b1, m[i], a1 * d);
        v[i] = fuse(b2, v[i], a2 * d * d);
        w[i] = fuse(keep, w[i], -step_size * m[i] / fuse(std::sqrt(v[i]), root, eps));
      }
    } else if (m != nullptr) {
      for (std::size_t i = begin; i < end; ++i) {
        m[i] = fuse(momentum, m[i], factor * g[i]);
        w[i] = fuse(keep, w[i], -sgd_rate * m[i]);
        g[i] = 0;
      }
    } else {
      for (std::size_t i = begin; i < end; ++i) {
        w[i] = fuse(keep, w[i], -sgd_rate * factor * g[i]);
        g[i] = 0;
      }
    }
    all.average(begin, end);
  };

  const auto profile = [&](int worker) { return profiles.empty() ? nullptr : &profiles[worker]; };
  pool.run(static_cast<int>(parts_.size()), [&](int task, int worker) {
    Timed timed(profile(worker), Work::optimizer);
    sweep(parts_[task]);
  });
  if (matrices_.empty()) return;
  workspaces_.resize(pool.threads());
  pool.run(static_cast<int>(matrices_.size()), [&](int task, int worker) {
    Timed timed(profile(worker), Work::optimizer);
    move_matrix(matrices_[task], all, workspaces_[worker]);
  });
}

template <class T>
std::vector<typename Optimizer<T>::Moment> Optimizer<T>::moments() {
  const auto muon = [this](const ParamInfo& info) { return moved_by_muon(config_, info); };
  const auto adam = [muon](const ParamInfo& info) { return !muon(info); };
  switch (moments_of(config_)) {
    case 0:
      return {};
    case 1:
      return {{"sgd.m.", &m_, [](const ParamInfo&) { return true; }}};
    default:
      return {{"muon.m.", &m_, muon}, {"adam.m.", &m_, adam}, {"adam.v.", &v_, adam}};
  }
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace heed
