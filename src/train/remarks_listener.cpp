// A remark in the log, once, when a run begins to overfit.
#include "show/loss_curves.h"
#include "train/listener.h"

namespace heed {
namespace {

class Remarks : public Listener {
 public:
  explicit Remarks(const Heard& heard) : log_(heard.log) {}
  void logged(const TrainEvent& line) override { curves_.train.push_back(line); }
  void validated(const ValidEvent& line, const Moment&) override {
    curves_.held_out.push_back(line);
    const std::string text = said_ ? "" : overfitting(curves_);
    if (text.empty()) return;
    log_.info(text);
    said_ = true;
  }

 private:
  Log& log_;
  LossCurves curves_;  // of this process
  bool said_ = false;
};

}  // namespace

std::unique_ptr<Listener> remarks_listener(const Heard& heard) {
  return std::make_unique<Remarks>(heard);
}

}  // namespace heed
