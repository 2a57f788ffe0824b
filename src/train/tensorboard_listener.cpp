// What TensorBoard shows of a run (train.tensorboard): the numbers of metrics.jsonl, the samples of
// the film, and the config. Every start begins a file of its own with what the run has so far.
#include <fmt/core.h>

#include <cmath>
#include <optional>

#include "base/fields.h"
#include "base/format.h"
#include "store/event_file.h"
#include "train/listener.h"

namespace heed {
namespace {

class TensorboardListener : public Listener {
 public:
  explicit TensorboardListener(const ListenerContext& context)
      : context_(context), on_(context.prepared.config.train.tensorboard) {}

  void began(const Moment&) override {
    unless_impossible([] {});
  }
  void logged(const TrainEvent& line) override {
    unless_impossible([&] { add(line); });
  }
  void validated(const ValidEvent& line, const Moment&) override {
    unless_impossible([&] {
      add(line);
      add_samples();
    });
  }
  void ended(Stop, const Moment&) override {
    unless_impossible([&] { add_samples(); });
  }

 private:
  // With all that the run has so far.
  void begin_file() {
    const std::filesystem::path& run = context_.run.path();
    file_.emplace(run / kTensorboard);
    file_->text(0, "config", dump_config(context_.prepared.config));
    const LoggedEvents so_far = read_events(run);
    for (const TrainEvent& line : so_far.train) add(line);
    for (const ValidEvent& line : so_far.valid) add(line);
    for (const Json& yardstick : Json(so_far.yardsticks))
      add_numbers(0, "yardsticks/" + yardstick["name"].get<std::string>(), yardstick);
    sampled_ = -1;
    add_samples();
    context_.log.info("to watch:\n  tensorboard --logdir " + shell_word(run.string()));
  }
  void add(const auto& event) { add_numbers(event.step, event.kKind, Json::parse(line_of(event))); }
  void add_numbers(std::int64_t step, const std::string& group, const Json& of) {
    for (const auto& [key, number] : of.items())
      if (key != "step" && number.is_number() && std::isfinite(number.get<double>()))
        file_->scalar(step, group + "/" + key, number.get<float>());
  }

  // Those of frames since the last call.
  void add_samples() {
    const RecordedFrames film = read_frames(context_.run.path());
    for (const Frame& frame : film.frames) {
      if (frame.step <= sampled_) continue;
      sampled_ = frame.step;
      file_->text(frame.step, "samples",
                  frame.filled.value_or(joined(film.probe.prompts, "\n") + "\n\n" +
                                        joined(frame.written, "\n")));
    }
  }

  // A file that cannot be written any further is left as it is: its last record may be torn.
  template <class Write>
  void unless_impossible(Write&& write) try {
    if (!on_) return;
    if (file_)
      write();
    else
      begin_file();
  } catch (const Error& e) {
    if (e.exit() != Exit::store) throw;
    on_ = false;
    context_.log.warn(fmt::format("{}/ gets no more events: {}", kTensorboard, e.what()));
  }

  ListenerContext context_;
  bool on_;
  std::optional<EventFile> file_;
  std::int64_t sampled_ = -1;  // the last step with a sample
};

}  // namespace

std::unique_ptr<Listener> tensorboard_listener(const ListenerContext& context) {
  return std::make_unique<TensorboardListener>(context);
}

}  // namespace heed
