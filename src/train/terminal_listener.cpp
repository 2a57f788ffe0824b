// The lines of train.log and the terminal, and the progress bar.
#include <fmt/core.h>

#include <cmath>

#include "base/format.h"
#include "base/profile.h"
#include "base/std_names.h"
#include "evaluate/figures.h"
#include "train/listener.h"
#include "train/validation.h"

namespace heed {
namespace {

constexpr int64_t kFewestSteps = 3;  // that a time left is taken from

class Terminal : public RunListener {
 public:
  using RunListener::RunListener;

  void began(const Moment&) override {
    c_.log.detail(
        "loss: nats per token without label smoothing, lower is better; ppl: e^loss; acc: tokens "
        "predicted right, without </s>; bpb: bits per byte; ep: times through the data; gnorm: "
        "length of the gradient; lr: learning rate");
  }

  void stepped(const Moment& m) override {
    step_ = m.state.step;
    seconds_ += m.seconds;
    ++steps_;
    c_.log.progress({.done = step_, .total = end_, .eta_seconds = seconds_left()});
  }

  void logged(const TrainEvent& l) override {
    string s = fmt::format("step {:6}", l.step);
    if (end_ > 0) s += fmt::format("/{}", end_);
    s += fmt::format(" | ep {:.1f} | loss {} | ppl {} | gnorm {:.2f} | lr {:.1e} | {} tok/s",
                     l.epoch, format_fixed(l.loss, 4), format_fixed(l.perplexity, 2),
                     l.gradient_norm, l.learning_rate, format_rate(l.tokens_per_second));
    if (seconds_left() >= 0) s += " | eta " + format_duration(seconds_left());
    c_.log.detail(s);
  }

  void validated(const ValidEvent& l, const Moment&) override {
    c_.log.only_file(date_and_time());
    string s = fmt::format("valid{:6} | loss {} | ppl {}", l.step, format_fixed(l.loss, 4),
                           format_fixed(l.perplexity, 2));
    if (l.bits_per_byte) s += fmt::format(" | bpb {}", format_fixed(*l.bits_per_byte, 3));
    s += fmt::format(" | acc {}", format_fixed(l.accuracy, 3));
    if (l.metric && metric_->needs == Figure::translations)
      s += fmt::format(" | {} {} (greedy)", *l.metric_name,
                       format_fixed(*l.metric, metric_->digits));
    c_.log.detail(fmt::format("{} | {}", s, l.verdict));
  }

  void remarked(const string& warning) override { c_.log.warn(warning); }

  void ended(Stop stop, const Moment& m) override {
    c_.log.end_progress();
    c_.log.only_file(date_and_time());
    string text = fmt::format("{} at step {}", ending_of(stop).words, m.state.step);
    if (stop == Stop::early)
      text += fmt::format(": {} validations without a new best", m.state.stalled);
    text += " after " + format_duration(seconds_now() - c_.begin);
    const auto best = c_.run.best();
    if (best && isfinite(best->valid_loss)) {
      const Figure* by = isfinite(best->valid_metric) ? metric_ : nullptr;
      text +=
          fmt::format("; best validation {} {}", by ? by->title : "loss", best_in_words(*best, by));
    }
    c_.log.info(text);
  }

 private:
  double seconds_left() const {  // below 0: not known
    if (end_ == 0 || steps_ < kFewestSteps) return -1;
    return seconds_ / double(steps_) * double(end_ - step_);
  }

  const int64_t end_ = c_.prepared.plan.steps;
  // null: none is measured
  const Figure* metric_ = selecting_figure(c_.prepared.config.train.select_by);
  int64_t step_ = 0, steps_ = 0;
  double seconds_ = 0;  // in steps
};

}  // namespace

unique_ptr<Listener> terminal_listener(const ListenerContext& context) {
  return make_unique<Terminal>(context);
}

}  // namespace heed
