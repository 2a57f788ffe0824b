#include "step/optimizers.h"

#include <algorithm>
#include <cmath>

#include "base/profile.h"
#include "base/std_names.h"
#include "math/lanes.h"
#include "step/newton_schulz.h"

namespace heed {
namespace {

template <class T>
void adam(const Stretch<T>& s) {
  const OptimizerConfig& c = s.config;
  const double t = s.update.step;
  const T b1 = T(c.betas[0]), b2 = T(c.betas[1]);
  // Not 1 - b in T: at 0.9999 that is off by more than a ten-thousandth.
  const T a1 = T(1.0 - c.betas[0]), a2 = T(1.0 - c.betas[1]);
  const T step_size = T(s.update.rate / (1.0 - pow(c.betas[0], t)));
  const T root = T(1.0 / sqrt(1.0 - pow(c.betas[1], t)));
  const T eps = T(c.eps), clip = T(s.update.clip), keep = s.keep;
  T* __restrict w = s.w, * __restrict g = s.g, * __restrict m = s.m, * __restrict v = s.v;
  for (size_t i = 0; i < s.size; ++i) {
    const T d = g[i] * clip;
    g[i] = 0;
    m[i] = fuse(b1, m[i], a1 * d);
    v[i] = fuse(b2, v[i], a2 * d * d);
    w[i] = fuse(keep, w[i], -step_size * m[i] / fuse(sqrt(v[i]), root, eps));
  }
}

// With s = rate / (1 - b1^t) and q = sqrt(v) root + eps, w <- keep w - s m / q gives
//   dm += -s dw / q,   dv += s dw m / q^2 * root / (2 sqrt(v)),   dd = (1 - b1) dm + 2 (1 - b2) d
//   dv
// Where v is 0, the gradient has always been 0: there the term through sqrt(v) is 0.
void adam_reverse(const Stretch<double>& s, const Stretch<double>& a) {
  const auto [b1, b2] = s.config.betas;
  const double t = s.update.step, step_size = s.update.rate / (1.0 - pow(b1, t));
  const double root = 1.0 / sqrt(1.0 - pow(b2, t));
  for (size_t i = 0; i < s.size; ++i) {
    const double deviation = sqrt(s.v[i]), q = deviation * root + s.config.eps;
    const double moved = step_size * a.w[i] / q;
    a.m[i] -= moved;
    if (deviation > 0) a.v[i] += moved * s.m[i] / q * root / (2 * deviation);
    a.g[i] = (1 - b1) * a.m[i] + 2 * (1 - b2) * s.update.clip * s.g[i] * a.v[i];
    a.w[i] *= s.keep;
    a.m[i] *= b1;
    a.v[i] *= b2;
  }
}

template <class T>
void sgd(const Stretch<T>& s) {
  const T rate = T(s.update.rate), clip = T(s.update.clip);
  const T keep = s.keep;
  T* __restrict w = s.w, * __restrict g = s.g;
  for (size_t i = 0; i < s.size; ++i) {
    w[i] = fuse(keep, w[i], -rate * clip * g[i]);
    g[i] = 0;
  }
}

template <class T>
void sgd_with_momentum(const Stretch<T>& s) {
  const T rate = T(s.update.rate), clip = T(s.update.clip);
  const T momentum = T(s.config.momentum), keep = s.keep;
  T* __restrict w = s.w, * __restrict g = s.g, * __restrict m = s.m;
  for (size_t i = 0; i < s.size; ++i) {
    m[i] = fuse(momentum, m[i], clip * g[i]);
    w[i] = fuse(keep, w[i], -rate * m[i]);
    g[i] = 0;
  }
}

// Also without momentum, where the adjoint of m is 0 before and after.
void sgd_reverse(const Stretch<double>& s, const Stretch<double>& a) {
  for (size_t i = 0; i < s.size; ++i) {
    a.g[i] = a.m[i] -= s.update.rate * a.w[i];
    a.w[i] *= s.keep;
    a.m[i] *= s.config.momentum;
  }
}

// Leaves g + momentum m in g.
template <class T>
void muon_momentum(const Stretch<T>& s) {
  const T momentum = T(s.config.momentum), clip = T(s.update.clip);
  T* __restrict g = s.g, * __restrict m = s.m;
  for (size_t i = 0; i < s.size; ++i) {
    const T d = clip * g[i];
    m[i] = fuse(momentum, m[i], d);
    g[i] = fuse(momentum, m[i], d);
  }
}

template <class T>
void muon_matrix(const Stretch<T>& s, int rows, int cols, Workspace& workspace) {
  orthogonalize(Mat<T>(s.g, rows, cols), s.products, workspace);
  const Update update{s.update.step, s.update.rate * 0.2 * sqrt(max(rows, cols))};
  sgd(Stretch<T>{s.config, update, s.products, s.keep, s.w, s.g, s.m, s.v, s.size});
}

size_t muon_workspace(Param p) {
  const size_t shorter = min(p.rows, p.cols), longer = max(p.rows, p.cols);
  return 2 * shorter * (shorter + longer);
}

// Its operations (newton_schulz.h); about a hundred take as long as a number of adam's.
double muon_products(Param p) {
  const double s = min(p.rows, p.cols), l = max(p.rows, p.cols);
  const double steps = l <= 2 * s ? 15 * l * s * s + 5 * s * s * s : 3 * l * s * s + 29 * s * s * s;
  return p.size() + steps / 100;
}

}  // namespace

vector<OptimizerKind>& optimizers() {
  static const UpdateRule kAdam{{"adam.m.", "adam.v."}, {adam<float>, adam<double>}, adam_reverse};
  static vector<OptimizerKind> kinds = {
      {{"adamw", "", {"betas", "eps", "weight_decay"}, {{"weight_decay", 0.01}}}, {kAdam}},
      {{"adam", "without weight decay", {"betas", "eps"}}, {kAdam}},
      {{"sgd", "", {"momentum", "weight_decay"}, {{"momentum", 0}, {"weight_decay", 0}}},
       {{{}, {sgd<float>, sgd<double>}, sgd_reverse},
        {{"sgd.m."}, {sgd_with_momentum<float>, sgd_with_momentum<double>}, sgd_reverse}},
       [](const OptimizerConfig& c, const ParamInfo&) { return c.momentum > 0 ? 1 : 0; }},
      {{"muon",
        "orthogonalised momentum for the matrices of the layers, adamw for the rest, both at "
        "learning_rate",
        {"betas", "eps", "momentum", "weight_decay"},
        {{"momentum", 0.95}, {"weight_decay", 0.01}}},
       {{{"muon.m."},
         {muon_momentum<float>, muon_momentum<double>},
         nullptr,
         {muon_matrix<float>, muon_matrix<double>},
         muon_workspace,
         muon_products},
        kAdam},
       [](const OptimizerConfig&, const ParamInfo& info) {
         const bool matrix_of_a_layer =
             !info.vector && !info.init.frozen && info.name.find(".layers.") != string::npos;
         return matrix_of_a_layer ? 0 : 1;
       }},
  };
  return kinds;
}

const UpdateRule& rule_of(const OptimizerConfig& c, const ParamInfo& info) {
  const OptimizerKind& kind = kind_named(optimizers(), c.type);
  return kind.rules[kind.rule_of ? kind.rule_of(c, info) : 0];
}

void fill_in_defaults(OptimizerConfig& c) {
  const map<string, double>& defaults = kind_named(optimizers(), c.type).doc.defaults;
  const auto fill = [&](double& value, const char* key) {
    if (value < 0) value = defaults.contains(key) ? defaults.at(key) : 0;
  };
  fill(c.weight_decay, "weight_decay");
  fill(c.momentum, "momentum");
}

double kept_share(const OptimizerConfig& c, double rate, const ParamInfo& info) {
  const bool decays = c.weight_decay > 0 && !info.vector && !info.init.frozen;
  return decays ? 1.0 - rate * c.weight_decay : 1.0;
}

double clip_factor(double clip_norm, double gradient_norm) {
  return clip_norm > 0 ? min(1.0, clip_norm / (gradient_norm + 1e-6)) : 1.0;
}

int moments_kept(const ParamTable& table, const OptimizerConfig& config) {
  size_t most = 0;
  for (const ParamInfo& info : table.infos())
    most = max(most, rule_of(config, info).moments.size());
  return most;
}

size_t optimizer_workspace(const ParamTable& table, const OptimizerConfig& config) {
  size_t most = 0;
  for (const ParamInfo& info : table.infos())
    if (const auto numbers = rule_of(config, info).workspace) most = max(most, numbers(info.param));
  return most;
}

template <class T>
Optimizer<T>::Optimizer(const ParamTable& table, const OptimizerConfig& config,
                        const Products<T>& products, size_t begin, size_t end)
    : table_(table), config_(config), products_(products), blocks_(weight_blocks(table)) {
  blocks_.resize(min(end, blocks_.size()));
  blocks_.erase(blocks_.begin(), blocks_.begin() + begin);
  for (const WeightBlock& block : blocks_)
    if (block.begin == block.tensor->param.offset && rule_of(config, *block.tensor).workspace)
      matrices_.push_back(block.tensor);
  ranges::stable_sort(matrices_, greater(),
                      [](const ParamInfo* info) { return info->param.size(); });
  for (int i = 0; i < moments_kept(table, config); ++i) moments_.emplace_back(table.size());
}

template <class T>
void Optimizer<T>::step(Pool& pool, const Update& update, ParamVec<T>& values,
                        ParamVec<T>& gradients, ParamVec<T>* averaged) {
  const auto stretch = [&](const ParamInfo& info, size_t begin, size_t end) {
    const auto moment = [&](size_t k) {
      return k < moments_.size() ? moments_[k].data() + begin : nullptr;
    };
    const T keep = T(kept_share(config_, update.rate, info));
    return Stretch<T>{
        config_,   update,    products_,  keep, values.data() + begin, gradients.data() + begin,
        moment(0), moment(1), end - begin};
  };
  // e <- decay e + (1 - decay) w
  const auto average = [&](size_t begin, size_t end) {
    if (averaged == nullptr) return;
    T* __restrict e = averaged->data();
    const T* __restrict w = values.data();
    const T decay = T(update.ema_decay), rest = T(1.0 - update.ema_decay);
    for (size_t i = begin; i < end; ++i) e[i] = fuse(decay, e[i], rest * w[i]);
  };

  pool.run(blocks_.size(), [&](int task, int) {
    const Timed timed(Work::optimizer);
    const auto [begin, end, info] = blocks_[task];
    const UpdateRule& rule = rule_of(config_, *info);
    std::get<UpdateRule::Move<T>>(rule.move)(stretch(*info, begin, end));
    if (!rule.workspace) average(begin, end);
  });
  if (matrices_.empty()) return;
  workspaces_.resize(pool.threads());
  pool.run(matrices_.size(), [&](int task, int worker) {
    const Timed timed(Work::optimizer);
    const ParamInfo& info = *matrices_[task];
    const size_t begin = info.param.offset, end = begin + info.param.size();
    const auto move = std::get<UpdateRule::MoveMatrix<T>>(rule_of(config_, info).move_matrix);
    move(stretch(info, begin, end), info.param.rows, info.param.cols, workspaces_[worker]);
    average(begin, end);
  });
}

template <class T>
vector<typename Optimizer<T>::Moment> Optimizer<T>::moments() {
  vector<Moment> all;
  const OptimizerKind& kind = kind_named(optimizers(), config_.type);
  for (size_t k = 0; k < moments_.size(); ++k)
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
