// metrics.jsonl of a run.
#include "train/listener.h"

namespace heed {
namespace {

class Metrics : public Listener {
 public:
  explicit Metrics(const Heard& heard) : run_(heard.run) {}
  void logged(const TrainEvent& line) override { run_.append(kMetrics, line_of(line)); }
  void validated(const ValidEvent& line, const Moment&) override {
    run_.append(kMetrics, line_of(line));
  }

 private:
  RunWriter& run_;
};

}  // namespace

std::unique_ptr<Listener> metrics_listener(const Heard& heard) {
  return std::make_unique<Metrics>(heard);
}

}  // namespace heed
