// The yardsticks of a run (evaluate/yardsticks.h): measured once, when it starts, logged in
// metrics.jsonl, and compared with its best validation at the end.
#include <fmt/core.h>

#include <cmath>

#include "base/cgroup.h"
#include "base/format.h"
#include "evaluate/yardsticks.h"
#include "train/listener.h"

namespace heed {
namespace {

class YardsticksListener : public Listener {
 public:
  explicit YardsticksListener(const ListenerContext& context) : context_(context) {}

  void began(const Moment& m) override {
    const auto& [p, run, log, so_far, ignored] = context_;
    if (!p.config.data.has_validation()) return;
    yardsticks_ = so_far.yardsticks;
    if (!yardsticks_.empty()) return;
    yardsticks_ = p.yardsticks.empty() ? measure_yardsticks(p) : p.yardsticks;
    if (const double available = available_memory();
        yardsticks_.empty() && p.memory.yardsticks > available)
      log.info(fmt::format("skipping the yardsticks: they may need {}, and {} is free",
                           format_bytes(p.memory.yardsticks), format_bytes(available)));
    if (yardsticks_.empty()) return;
    run.append(kMetrics, line_of(YardsticksEvent{m.state.step, yardsticks_}));
    say();
  }

  void ended(Stop, const Moment&) override {
    const auto best = context_.run.best();
    if (best && std::isfinite(best->valid_loss) && !yardsticks_.empty())
      context_.log.info(compared(best->valid_loss, yardsticks_));
  }

 private:
  void say() const {
    std::vector<std::string> nats, bits;
    for (const Yardstick& y : yardsticks_) {
      nats.push_back(fmt::format("{} {:.3f}", y.name, y.nats_per_token));
      if (std::isfinite(y.bits_per_byte))
        bits.push_back(fmt::format("{} {:.3f}", y.name, y.bits_per_byte));
    }
    context_.log.info("yardsticks on the held-out text, nats per token: " + joined(nats));
    if (!bits.empty()) context_.log.info("the same in bits per byte: " + joined(bits));
  }

  ListenerContext context_;
  Yardsticks yardsticks_;
};

}  // namespace

std::unique_ptr<Listener> yardsticks_listener(const ListenerContext& context) {
  return std::make_unique<YardsticksListener>(context);
}

}  // namespace heed
