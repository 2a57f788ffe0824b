// The table of listeners, and the short ones.
#include <fmt/core.h>

#include <cmath>

#include "base/fields.h"
#include "base/format.h"
#include "base/std_names.h"
#include "evaluate/yardsticks.h"
#include "train/listener.h"

namespace heed {

// The longer ones are in files of their own, NAME_listener.cpp. Null: it has nothing to do.
using MakeListener = unique_ptr<Listener>(const ListenerContext&);
MakeListener tenths_listener, terminal_listener, film_listener, tensorboard_listener;

namespace {

// The lines of metrics.jsonl that follow the steps; what happens to a run is told where it happens.
class Metrics : public RunListener {
 public:
  using RunListener::RunListener;
  void logged(const TrainEvent& line) override { c_.run.append(kMetrics, text_of(line)); }
  void validated(const ValidEvent& line, const Moment&) override {
    c_.run.append(kMetrics, text_of(line));
  }
};

// The yardsticks (evaluate/yardsticks.h): measured once, when the run starts, and compared with its
// best validation at the end.
class YardsticksListener : public RunListener {
 public:
  using RunListener::RunListener;

  void began(const Moment& m) override {
    const PreparedRun& p = c_.prepared;
    yardsticks_ = read_events(c_.run.path()).yardsticks;
    if (!yardsticks_.empty()) return;
    yardsticks_ = p.yardsticks.empty() ? measure_yardsticks(p) : p.yardsticks;
    if (yardsticks_.empty()) return;
    c_.run.append(kMetrics, text_of(YardsticksEvent{m.state.step, yardsticks_}));
    vector<string> all;
    for (const Yardstick& y : yardsticks_)
      all.push_back(fmt::format("{} {:.3f}{}", y.name, y.nats_per_token,
                                isfinite(y.bits_per_byte)
                                    ? fmt::format(" ({:.3f} bits per byte)", y.bits_per_byte)
                                    : ""));
    c_.log.detail("yardsticks on the held-out text, nats per token: " + joined(all));
  }

  void ended(Stop, const Moment&) override {
    const auto best = c_.run.best();
    if (!best || !isfinite(best->valid_loss) || yardsticks_.empty()) return;
    c_.log.detail(compared(best->valid_loss, yardsticks_));
    const Yardstick& y = *ranges::min_element(yardsticks_, {}, &Yardstick::nats_per_token);
    c_.log.brief(fmt::format("{}better than the best of simpler methods: {} {:.2f}",
                             best->valid_loss < y.nats_per_token ? "" : "not ", y.name,
                             y.nats_per_token));
  }

 private:
  Yardsticks yardsticks_;
};

template <class Made>
unique_ptr<Listener> make(const ListenerContext& context) {
  return make_unique<Made>(context);
}

}  // namespace

// In the order in which they hear.
constexpr MakeListener* kListeners[] = {tenths_listener, terminal_listener,
                                        make<Metrics>,   make<YardsticksListener>,
                                        film_listener,   tensorboard_listener};

Listeners listeners(const ListenerContext& context) {
  Listeners all;
  for (MakeListener* listener : kListeners)
    if (auto made = listener(context)) all.push_back(std::move(made));
  return all;
}

}  // namespace heed
