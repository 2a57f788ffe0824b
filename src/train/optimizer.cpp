#include "train/optimizer.h"

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

// Numbers of one task of a sweep.
constexpr std::size_t kUpdateTask = std::size_t{1} << 15;

}  // namespace

double clip_factor(double clip_norm, double gradient_norm) {
  return clip_norm > 0 ? std::min(1.0, clip_norm / (gradient_norm + 1e-6)) : 1.0;
}

template <class T>
Optimizer<T>::Optimizer(const ParamTable& table, const OptimizerConfig& config) : config_(config) {
  for (const ParamInfo& info : table.infos()) {
    const bool decay = config.weight_decay > 0 && !info.vector && !info.init.frozen;
    const std::size_t end = info.param.offset + info.param.size();
    if (!stretches_.empty() && stretches_.back().decay == decay) {
      stretches_.back().end = end;
    } else {
      stretches_.push_back({info.param.offset, end, decay});
    }
  }
  if (has_moments()) {
    m_ = ParamVec<T>(table.size());
    v_ = ParamVec<T>(table.size());
  }
}

template <class T>
void Optimizer<T>::step(Pool& pool, const Update& update, ParamVec<T>& values,
                        ParamVec<T>& gradients, ParamVec<T>* averaged,
                        const std::vector<Profile*>& profiles) {
  const double t = static_cast<double>(update.step), rate = update.rate;
  const T b1 = static_cast<T>(config_.betas[0]), b2 = static_cast<T>(config_.betas[1]);
  // Not 1 - b in T: at 0.9999 that is off by more than a ten-thousandth.
  const T a1 = static_cast<T>(1.0 - config_.betas[0]), a2 = static_cast<T>(1.0 - config_.betas[1]);
  const T step_size = static_cast<T>(rate / (1.0 - std::pow(config_.betas[0], t)));
  const T root = static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(config_.betas[1], t)));
  const T eps = static_cast<T>(config_.eps), factor = static_cast<T>(update.clip);
  const T sgd_rate = static_cast<T>(rate);

  const auto sweep = [&](std::size_t begin, std::size_t end, T keep) {
    T* __restrict w = values.data();
    T* __restrict g = gradients.data();
    if (has_moments()) {
      T* __restrict m = m_.data();
      T* __restrict v = v_.data();
      for (std::size_t i = begin; i < end; ++i) {
        const T d = g[i] * factor;
        g[i] = 0;
        m[i] = b1 * m[i] + a1 * d;
        v[i] = b2 * v[i] + a2 * d * d;
        w[i] = keep * w[i] - step_size * m[i] / (std::sqrt(v[i]) * root + eps);
      }
    } else {
      for (std::size_t i = begin; i < end; ++i) {
        w[i] = keep * w[i] - sgd_rate * factor * g[i];
        g[i] = 0;
      }
    }
    if (averaged) {
      T* __restrict e = averaged->data();
      const T decay = static_cast<T>(update.ema_decay);
      const T rest = static_cast<T>(1.0 - update.ema_decay);
      for (std::size_t i = begin; i < end; ++i) e[i] = decay * e[i] + rest * w[i];
    }
  };

  const std::size_t size = values.size();
  const int tasks = static_cast<int>((size + kUpdateTask - 1) / kUpdateTask);
  pool.run(tasks, [&](int task, int worker) {
    Timed timed(profiles.empty() ? nullptr : profiles[worker], Work::optimizer);
    const std::size_t begin = task * kUpdateTask, end = std::min(size, begin + kUpdateTask);
    auto s = std::upper_bound(stretches_.begin(), stretches_.end(), begin,
                              [](std::size_t at, const Stretch& x) { return at < x.end; });
    for (; s != stretches_.end() && s->begin < end; ++s)
      sweep(std::max(begin, s->begin), std::min(end, s->end),
            s->decay ? static_cast<T>(1.0 - rate * config_.weight_decay) : T{1});
  });
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace heed
