// What a terminal shows of a training without --verbose: a table with a row for each tenth of it.
#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <exception>

#include "base/format.h"
#include "base/profile.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "text/utf8.h"
#include "train/listener.h"

namespace heed {
namespace {

constexpr int kRecentSteps = 20;  // that the loss shown is a mean of, about

string short_number(double x) {
  return isnan(x) ? "" : fmt::format("{:#.3g}", x);
}

class Tenths : public RunListener {
 public:
  using RunListener::RunListener;

  void began(const Moment& m) override {
    first_ = shown_at_ = m.state.step;
    started_ = seconds_now();
  }

  bool looks_at(int64_t step, bool validates) override {
    waits_ = validates || step == c_.prepared.plan.steps;
    return due_ = tenth(step) > shown_;
  }

  void stepped(const Moment& m) override {
    if (const double loss = m.last.loss(); isfinite(loss))
      loss_ += (loss - loss_) / min(++steps_, kRecentSteps);
    if (due_ && !waits_) show(m);
  }

  void validated(const ValidEvent& line, const Moment& m) override {
    held_out_ = line.loss;
    if (due_) show(m);
  }

  void ended(Stop, const Moment& m) override {
    if (shown_at_ < m.state.step) show(m);
  }

 private:
  // Of the way from the first step to the end of steps, epochs or minutes, whichever is nearest.
  int tenth(int64_t step) const {
    const TrainConfig& t = c_.prepared.config.train;
    const Plan& plan = c_.prepared.plan;
    const double end = plan.steps > 0 ? double(plan.steps) : t.max_epochs / plan.step_epochs,
                 seconds = 60 * t.max_minutes, first = double(first_);
    return int(10 * max(end > first ? (double(step) - first) / (end - first) : 0.0,
                        seconds > 0 ? (seconds_now() - started_) / seconds : 0.0));
  }

  void show(const Moment& m) {
    const auto row = [&](const string& time, const string& loss, const string& held_out,
                         const string& text) {
      const bool validates = c_.prepared.config.data.has_validation();
      c_.log.brief(shortened(fmt::format("{:>6} | {:>5} | {}{}", time, loss,
                                         validates ? fmt::format("{:>8} | ", held_out) : "", text),
                             terminal_width(STDERR_FILENO)));
    };
    if (shown_ == 0) row("time", "loss", "held out", "what it writes");
    row(format_duration(seconds_now() - c_.begin), short_number(loss_),
        short_number(exchange(held_out_, kNotMeasured)), printable(stripped(written(m))));
    shown_ = max(1, tenth(m.state.step));
    shown_at_ = m.state.step;
    due_ = false;
  }

  // If the run has diverged, or has no memory for this, training itself finds out.
  string written(const Moment& m) try {
    return c_.film.empty() ? "" : c_.film.sample(c_.prepared.with(m.used));
  } catch (const std::exception&) {
    return "";
  }

  double started_ = 0;  // of the training
  int64_t first_ = 0, shown_at_ = 0;
  int shown_ = 0, steps_ = 0;
  bool due_ = false, waits_ = false;  // for a validation
  double loss_ = 0, held_out_ = kNotMeasured;
};

}  // namespace

unique_ptr<Listener> tenths_listener(const ListenerContext& context) {
  return context.log.shows_briefs() ? make_unique<Tenths>(context) : nullptr;
}

}  // namespace heed
