// A remark in the log, once, when a run begins to overfit.
#include "show/loss_curves.h"
#include "train/listener.h"

namespace heed {
namespace {

class Remarks : public Listener {
 public:
  explicit Remarks(const ListenerContext& context) : log_(context.log) {}
  void logged(const TrainEvent& line) override { logged_.train.push_back(line); }
  void validated(const ValidEvent& line, const Moment&) override {
    logged_.valid.push_back(line);
    const std::string text = said_ ? "" : overfitting(logged_);
    if (text.empty()) return;
    log_.info(text);
    said_ = true;
  }

 private:
  Log& log_;
  LoggedEvents logged_;  // of this process
  bool said_ = false;
};

}  // namespace

std::unique_ptr<Listener> remarks_listener(const ListenerContext& context) {
  return std::make_unique<Remarks>(context);
}

}  // namespace heed
