// The table of listeners, and the short ones.
#include "show/advice.h"
#include "train/listener.h"

namespace heed {

// The longer ones are in files of their own, NAME_listener.cpp.
using MakeListener = std::unique_ptr<Listener>(const ListenerContext&);
MakeListener terminal_listener, yardsticks_listener, film_listener, tensorboard_listener;

namespace {

// The lines of metrics.jsonl that follow the steps; what happens to a run is told where it happens.
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

// A remark in the log, once, when a run begins to overfit.
class Remarks : public Listener {
 public:
  explicit Remarks(const ListenerContext& context)
      : log_(context.log),
        patience_(context.prepared.config.train.patience > 0),
        logged_(context.so_far),
        said_(!overfitting(logged_, patience_).empty()) {}
  void logged(const TrainEvent& line) override { logged_.train.push_back(line); }
  void validated(const ValidEvent& line, const Moment&) override {
    logged_.valid.push_back(line);
    const std::string text = said_ ? "" : overfitting(logged_, patience_);
    if (text.empty()) return;
    log_.info(text);
    said_ = true;
  }

 private:
  Log& log_;
  const bool patience_;
  LoggedEvents logged_;
  bool said_;
};

template <class Made>
std::unique_ptr<Listener> make(const ListenerContext& context) {
  return std::make_unique<Made>(context);
}

}  // namespace

// In the order in which they hear.
constexpr MakeListener* kListeners[] = {terminal_listener,    make<Metrics>,
                                        yardsticks_listener,  film_listener,
                                        tensorboard_listener, make<Remarks>};

Listeners listeners(const ListenerContext& context) {
  Listeners all;
  for (MakeListener* listener : kListeners) all.push_back(listener(context));
  return all;
}

}  // namespace heed
