// What TensorBoard shows of a run (train.tensorboard): the numbers of metrics.jsonl, the samples of
// the film, and the config. Every start begins a file of its own with what the run has so far: an
// event file, of records with checksums (TFRecord), each an Event in the encoding of Protocol
// Buffers (tensorflow/core/util/event.proto, framework/{summary,tensor}.proto).
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "base/fields.h"
#include "base/files.h"
#include "base/format.h"
#include "base/protobuf.h"
#include "base/std_names.h"
#include "train/listener.h"

namespace heed {
namespace {

// CRC-32C, Castagnoli's polynomial (RFC 3720, appendix B.4), as TFRecord masks it.
string masked_crc(string_view bytes) {
  uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc % 2 ? 0x82f63b78u : 0u);
  }
  return bytes_of(std::rotr(~crc, 15) + 0xa282ead8u);
}

// Event.summary with one value.
string summary(const string& tag, const string& value) {
  return proto_bytes(5, proto_bytes(1, proto_bytes(1, tag) + value));
}

double seconds_since_1970() {
  return chrono::duration<double>(chrono::system_clock::now().time_since_epoch()).count();
}

// Sorted names are in the order of the starts.
fs::path new_name(const fs::path& folder) {
  if (!make_folder(folder) && type_of(folder) != fs::file_type::directory)
    throw store_error("{} is no folder", quoted_path(folder));
  return folder / fmt::format("events.out.tfevents.{:.6f}", seconds_since_1970());
}

// A new file; a kill may tear its last record. It begins with a start at step 0, at which readers
// drop what they have read in earlier files of the folder.
class EventFile : private OutputFile {
 public:
  // In a folder that is made if it is not there. Errors (store) as in base/files.h.
  explicit EventFile(const fs::path& folder) : OutputFile(new_name(folder)) {
    add(0, proto_bytes(3, "brain.Event:2"));     // file_version
    add(0, proto_bytes(7, proto_number(1, 1)));  // session_log.status START
  }

  void scalar(int64_t step, const string& tag, float value) {
    add(step, summary(tag, proto_fixed(2, value)));  // simple_value
  }

  // A tensor (8) of one string, its shape (2) that of a scalar, for the plugin (9) "text", which
  // reads Markdown: indented lines are shown as they are.
  void text(int64_t step, const string& tag, const string& text) {
    const string shown = "    " + replace_all(text, "\n", "\n    "),
                 tensor = proto_number(1, 7) + proto_bytes(2, "") + proto_bytes(8, shown),
                 plugin = proto_bytes(1, proto_bytes(1, "text"));
    add(step, summary(tag, proto_bytes(8, tensor) + proto_bytes(9, plugin)));
  }

 private:
  void add(int64_t step, const string& fields) {
    const string event = proto_fixed(1, seconds_since_1970()) + proto_number(2, uint64_t(step)) +
                         fields,
                 size = bytes_of(uint64_t{event.size()});
    write(size + masked_crc(size) + event + masked_crc(event));
  }
};

class TensorboardListener : public RunListener {
 public:
  using RunListener::RunListener;

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
    const fs::path& run = c_.run.path();
    file_.emplace(run / kTensorboard);
    file_->text(0, "config", dump_config(c_.prepared.config));
    const LoggedEvents so_far = read_events(run);
    for (const TrainEvent& line : so_far.train) add(line);
    for (const ValidEvent& line : so_far.valid) add(line);
    for (const Json& yardstick : Json(so_far.yardsticks))
      add_numbers(0, "yardsticks/" + yardstick["name"].get<string>(), yardstick);
    sampled_ = -1;
    add_samples();
    c_.log.info("to watch:\n  tensorboard --logdir " + shell_word(run.string()));
  }
  void add(const auto& event) { add_numbers(event.step, event.kKind, event); }
  void add_numbers(int64_t step, const string& group, const Json& of) {
    for (const auto& [key, number] : of.items())
      if (key != "step" && number.is_number() && isfinite(number.get<double>()))
        file_->scalar(step, group + "/" + key, number.get<float>());
  }

  // Those of frames since the last call.
  void add_samples() {
    const RecordedFrames film = read_frames(c_.run.path());
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
    c_.log.warn(fmt::format("{}/ gets no more events: {}", kTensorboard, e.what()));
  }

  bool on_ = c_.prepared.config.train.tensorboard;
  optional<EventFile> file_;
  int64_t sampled_ = -1;  // the last step with a sample
};

}  // namespace

unique_ptr<Listener> tensorboard_listener(const ListenerContext& context) {
  return make_unique<TensorboardListener>(context);
}

}  // namespace heed
