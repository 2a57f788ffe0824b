// metrics.jsonl of a run.
#include "train/listener.h"

namespace heed {
namespace {

class Metrics : public Listener {
 public:
  explicit Metrics(const ListenerContext& context) : run_(context.run) {}
  void logged(const TrainEvent& line) override { run_.append(kMetrics, line_of(line)); }
  void validated(const ValidEvent& line, const Moment&) override {
    run_.append(kMetrics, line_of(line));
  }

 private:
  RunWriter& run_;
};

}  // namespace

std::unique_ptr<Listener> metrics_listener(const ListenerContext& context) {
  return std::make_unique<Metrics>(context);
}

}  // namespace heed
