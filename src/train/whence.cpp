#include "train/whence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/format.h"
#include "base/std_names.h"

namespace heed {
namespace {

double dot(const ParamVec<double>& x, const ParamVec<double>& y) {
  return std::inner_product(x.data(), x.data() + x.size(), y.data(), 0.0);
}

// Weights and moments.
template <class T>
using Numbers = vector<ParamVec<T>>;

template <class T>
Numbers<T> numbers_of(Retraining<T>& training) {
  return mapped(training.numbers(), [](const ParamVec<T>* x) { return copy_as<T>(*x); });
}

// A step that was done.
template <class T>
struct StepRecord {
  int64_t step;
  double norm;           // of the gradient
  ParamVec<T> gradient;  // not clipped
  ParamVec<T> before;    // weights
  Numbers<T> after;      // and moments
};

// The adjoints, step after step backwards.
class Backwards {
 public:
  Backwards(const TrainingSetup& setup, ParamVec<double> of_phi)
      : influences(setup.units),
        setup_(setup),
        gradients_(setup.model, setup.options.shards, setup.crew),
        e_(std::move(of_phi)),  // without EMA the last step has the decay 0
        h_(e_.size()) {
    for (int k = 0; k < 3; ++k) adjoints_.emplace_back(e_.size());
  }

  template <class T>
  void reverse(const StepRecord<T>& done) {
    const Update update =
        update_of(setup_.options, setup_.model.config.d_model, done.step, done.norm);
    for (size_t i = 0; i < e_.size(); ++i) {
      adjoints_[0].data()[i] += (1 - update.ema_decay) * e_.data()[i];
      e_.data()[i] *= update.ema_decay;
    }
    ParamVec<double> g = copy_as<double>(done.gradient);
    reverse_update(done, update, g);
    if (update.clip < 1) {
      const double share = dot(h_, g) / (done.norm * (done.norm + 1e-6));
      for (size_t i = 0; i < h_.size(); ++i)
        h_.data()[i] = update.clip * (h_.data()[i] - share * g.data()[i]);
    }
    pass_gradient(done.step, copy_as<double>(done.before));
  }

  vector<double> influences;

 private:
  // dw, dm and dv of before the update, and dd in h.
  template <class T>
  void reverse_update(const StepRecord<T>& done, const Update& update, ParamVec<double>& g) {
    Numbers<double> after = mapped(done.after, copy_as<double, T>);  // w, m, v
    while (after.size() < adjoints_.size()) after.emplace_back(g.size());
    const OptimizerConfig& config = setup_.options.optimizer;
    for (const ParamInfo& info : setup_.model.table.infos()) {
      const size_t begin = info.param.offset, size = info.param.size();
      const auto stretch = [&](Numbers<double>& x, ParamVec<double>& gradient) {
        return Stretch<double>{config,
                               update,
                               blas_products<double>(),
                               kept_share(config, update.rate, info),
                               x[0].data() + begin,
                               gradient.data() + begin,
                               x[1].data() + begin,
                               x[2].data() + begin,
                               size};
      };
      rule_of(config, info).reverse(stretch(after, g), stretch(adjoints_, h_));
      if (info.init.frozen) std::fill_n(h_.data() + begin, size, 0.0);  // so is its gradient
    }
  }

  // dw += H h, and every unit's share of h . grad L_t.
  void pass_gradient(int64_t step, ParamVec<double> w) {
    const StepBatch& batch = setup_.batches.batch(step);
    const vector<int>& units = setup_.batches.rows();
    const double length = sqrt(dot(h_, h_));
    if (length == 0 || batch.labels == 0) return;
    const double eps = kStepLength / length;
    vector<double> rows(units.size());
    double at = 0;  // w is w + at eps h now
    for (const double sign : {1.0, -1.0}) {
      for (size_t i = 0; i < w.size(); ++i) w.data()[i] += (sign - at) * eps * h_.data()[i];
      at = sign;
      gradients_.run(w, batch, setup_.options.label_smoothing, {}, rows.data());
      gradients_.reduce();
      const double scale = sign / (2 * eps);
      for (size_t i = 0; i < w.size(); ++i)
        adjoints_[0].data()[i] += scale * std::exchange(gradients_.sum().data()[i], 0.0);
      for (size_t r = 0; r < rows.size(); ++r)
        if (units[r] >= 0) influences[units[r]] += scale * rows[r] / double(batch.labels);
    }
  }

  static constexpr double kStepLength = 1e-5;  // |eps h|

  const TrainingSetup& setup_;
  Gradients<double> gradients_;
  Numbers<double> adjoints_;  // dw, dm, dv
  ParamVec<double> e_, h_;    // de, dg
};

int64_t stretch_of(int64_t steps) {
  return int64_t(std::ceil(sqrt(double(steps))));
}

}  // namespace

void require_reverse(const TrainingSetup& setup) {
  const OptimizerConfig& config = setup.options.optimizer;
  for (const ParamInfo& info : setup.model.table.infos())
    if (!rule_of(config, info).reverse)
      throw usage_error(
          "optimizer.type {} cannot be followed backwards: what moves {} has no reverse.",
          config.type, info.name)
          .hint("a run with --set optimizer.type=adamw, and a learning rate of its own");
}

Units units_of(const Split& split, const Tokenizers& tokenizers) {
  Units units;
  for (size_t i = 0; i < split.sentences(); ++i)
    units.all.push_back({{int64_t(split.lines[i])},
                         tokenizers.source().decode(split.sentence(Side::source, int64_t(i))) +
                             "\t" +
                             tokenizers.target->decode(split.sentence(Side::target, int64_t(i)))});
  if (split.pairs()) return units;
  units.all.push_back({{1}, ""});
  int previous = -1;
  for (size_t i = 0; i < split.target.size(); ++i) {
    const int id = split.target[i];
    units.of_token.push_back(int(units.all.size()) - 1);
    for (const char byte : tokenizers.target->text_after(previous, id)) {
      if (byte != '\n')
        units.all.back().text += byte;
      else
        units.all.push_back({{int64_t(units.all.size()) + 1}, ""});
    }
    if (!tokenizers.target->is_special(id)) previous = id;
  }
  if (units.all.back().text.empty()) units.all.pop_back();  // the text ends with a newline
  return units;
}

const StepBatch& UnitBatches::batch(int64_t step, const LeftOut& left_out) {
  Cursor at = cursors_[size_t(step) - 1];
  const Cursor after = batcher_.fill(step, at, batch_);
  if (cursors_.size() == size_t(step)) cursors_.push_back(after);
  // The rows are those of the examples, in their order (data/batcher.h).
  rows_.clear();
  Example e;
  size_t row = 0;  // of the example
  for (size_t shard = 0; shard < batch_.shards.size(); ++shard)
    for (int i = 0; i < batch_.used[shard]; ++i)
      for (int& label : batch_.shards[shard][i].labels) {
        if (row == e.labels.size()) {
          objective_.example(split_, at.epoch, at.index++, e);
          row = 0;
        }
        const int unit = label < 0 ? -1 : units_.of(e.places[row]);
        ++row;
        rows_.push_back(unit);
        if (unit >= 0 && !left_out.empty() && left_out[unit]) label = -1;
      }
  return batch_;
}

template <class T>
Retraining<T>::Retraining(const TrainingSetup& training)
    : setup(training),
      gradients(setup.model, setup.options.shards, setup.crew),
      optimizer(setup.model.table, setup.options.optimizer),
      values(copy_as<T>(setup.begin)) {
  if (setup.options.ema_decay > 0) averaged.emplace(copy_as<T>(values));
}

template <class T>
double Retraining<T>::gradient(int64_t step, const LeftOut& left_out) {
  gradients.run(values, setup.batches.batch(step, left_out), setup.options.label_smoothing);
  return gradients.reduce();
}

template <class T>
void Retraining<T>::update(int64_t step, double norm) {
  optimizer.step(setup.crew.pool(),
                 update_of(setup.options, setup.model.config.d_model, step, norm), values,
                 gradients.sum(), averaged ? &*averaged : nullptr);
  setup.worked(1);
}

Phi answers_of(const Transformer& model, vector<Prediction> predictions) {
  return [&model, all = std::move(predictions)](const ParamVec<double>& weights,
                                                ParamVec<double>& gradient) {
    double phi = 0;
    for (const Prediction& p : all) {
      Batch batch;
      batch.add(asked(model, p, p.answer.front()));
      Workspace workspace;
      Pass<double> pass{.values = weights, .workspace = workspace, .gradients = &gradient};
      TransformerSaved<double> saved;
      // What is minimised is -log p: its gradient is taken -1 times.
      phi -= train_micro_batch(model, pass, batch, {0.0, -1.0}, saved).nll;
    }
    return phi;
  };
}

template <class T>
vector<double> influences(const TrainingSetup& setup, const Phi& answer) {
  const int64_t n = setup.steps, stretch = stretch_of(n);
  Retraining<T> training(setup);
  vector<Numbers<T>> kept;
  for (int64_t step = 1; step <= n; ++step) {
    if ((step - 1) % stretch == 0) kept.push_back(numbers_of(training));
    training.update(step, training.gradient(step));
  }
  ParamVec<double> of_phi(training.values.size());
  answer(copy_as<double>(training.used()), of_phi);
  Backwards backwards(setup, std::move(of_phi));
  for (; !kept.empty(); kept.pop_back()) {
    for (size_t k = 0; k < kept.back().size(); ++k)
      std::copy_n(kept.back()[k].data(), training.values.size(), training.numbers()[k]->data());
    vector<StepRecord<T>> done;
    const int64_t first = int64_t(kept.size() - 1) * stretch + 1;
    for (int64_t step = first; step < first + stretch && step <= n; ++step) {
      const double norm = training.gradient(step);
      done.push_back(
          {step, norm, copy_as<T>(training.gradients.sum()), copy_as<T>(training.values), {}});
      training.update(step, norm);
      done.back().after = numbers_of(training);
      done.back().after.front() = {};  // the next step has it
    }
    for (; !done.empty(); done.pop_back()) {
      backwards.reverse(done.back());
      setup.worked(4);
    }
  }
  return std::move(backwards.influences);
}

double influence_memory(const TrainingSetup& setup) {
  const int moments = moments_kept(setup.model.table, setup.options.optimizer);
  const double stretch = double(stretch_of(setup.steps)),
               in_float = stretch * (3 + 2 * moments) +
                          kept_arrays(setup.model.table, setup.options) + setup.options.shards + 2;
  return double(setup.model.table.size()) * (4 * in_float + 8 * (setup.options.shards + 10));
}

double retrained(const TrainingSetup& setup, const Phi& answer, const LeftOut& left_out) {
  Retraining<float> training(setup);
  for (int64_t step = 1; step <= setup.steps; ++step)
    training.update(step, training.gradient(step, left_out));
  ParamVec<double> gradient(training.values.size());  // nobody needs it
  return answer(copy_as<double>(training.used()), gradient);
}

template struct Retraining<float>;
template struct Retraining<double>;
template vector<double> influences<float>(const TrainingSetup&, const Phi&);
template vector<double> influences<double>(const TrainingSetup&, const Phi&);

}  // namespace heed
