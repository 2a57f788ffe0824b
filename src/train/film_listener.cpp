// The film of a run: which steps have a frame, and the measuring of the matrices around an update.
//
// A frame is made after the update, or after the validation that follows it. If a signal interrupts
// that validation, the frame is made when a resume makes up for it; then the gradient and the
// update are not known any more.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <set>

#include "base/utf8.h"
#include "show/film.h"
#include "store/initial_weights.h"
#include "train/listener.h"

namespace heed {
namespace {

constexpr std::size_t kSampleColumns = 76;

std::string sample_line(std::int64_t step, const std::string& sample) {
  const std::string text = printable(sample);
  const bool fits = text.size() <= kSampleColumns;
  return fmt::format("sample{:5} | {}", step, fits ? text : whole_words(text, kSampleColumns));
}

class FilmListener : public Listener {
 public:
  explicit FilmListener(const Heard& heard)
      : prepared_(heard.prepared),
        run_(heard.run),
        log_(heard.log),
        film_(prepared_.config, prepared_.model, prepared_.tokenizers, prepared_.data),
        record_(prepared_.model.table) {}

  void began(const Moment& m) override {
    on_ = !film_.empty() && has_lines(run_.path(), kFilm) && continues(m.state.step);
    if (!on_) return;
    first_weights(m);
    if (m.state.step == 0 && is_frame(frames_, 0, false, 0)) add({0, m.used, measured(m)});
  }

  bool looks_at(std::int64_t step, bool validates) override {
    looks_ =
        on_ && (step == prepared_.plan.steps || is_frame(frames_, step, validates, film_.cost()));
    return looks_;
  }

  void before_update(const PendingUpdate& u) override {
    validates_ = u.validates;
    valid_loss_ = kNotMeasured;
    if (looks_) record_.before_update(u.values, u.gradients);
  }

  void stepped(const Moment& m) override {
    if (!validates_ && on_ && is_frame(frames_, m.state.step, false, film_.cost()))
      add({m.state.step, m.used, measured(m), m.last.loss()});
  }

  void validated(const ValidEvent& line, const Moment& m) override {
    valid_loss_ = line.loss;
    const bool planned = validates_ || m.last.tokens == 0;  // else the end of a run
    if (!planned || !on_ || !is_frame(frames_, line.step, true, film_.cost())) return;
    const std::string sample = add({m.state.step, m.used, measured(m), kNotMeasured, line.loss});
    if (!sample.empty()) log_.info(sample_line(line.step, sample));
  }

  // The last step has a frame in any case, which a run that goes on drops.
  void ended(Stop stop, const Moment& m) override {
    const bool over = stop != Stop::asked && stop != Stop::signal;
    if (!on_ || !over || frames_.empty() || frames_.back().step == m.state.step) return;
    add({.step = m.state.step,
         .values = m.used,
         .matrices = measured(m),
         .valid_loss = valid_loss_,
         .end = true});
  }

 private:
  // Reads the film so far. One with another probe is left as it is.
  bool continues(std::int64_t step) {
    const std::string probe = film_.probe();
    const auto known = nlohmann::ordered_json::parse(probe);
    bool begun = false, same = false;
    std::set<std::int64_t> ends;
    const auto count = [&](const nlohmann::ordered_json& line) {
      if (!begun)
        same = std::ranges::all_of(known.items(), [&](const auto& x) {
          return line.value(x.key(), nlohmann::ordered_json()) == x.value();
        });
      const auto at = line["step"].get<std::int64_t>();
      if (begun && line["kind"] == "frame") {
        if (line.value("end", nlohmann::ordered_json()) == true)
          ends.insert(at);
        else
          frames_.push_back({at, line.value("valid_loss", nlohmann::ordered_json()).is_number()});
      }
      begun = true;
    };
    for_each_event(run_.path(), count, kFilm);
    if (same && !ends.empty()) run_.drop_frames(ends);
    if (!begun && step == 0) {
      run_.append(kFilm, probe);
      return true;
    }
    if (!same) log_.info("film.jsonl does not begin with this run's probe: it gets no frames");
    return same;
  }

  // For the cosines to them.
  void first_weights(const Moment& m) {
    const auto began_with = [&](const ParamVec<float>& initial) {
      record_.began_with(initial);
      film_.began_with(initial);
    };
    if (m.state.step == 0) return began_with(m.values);
    try {
      began_with(initial_weights(prepared_.model, prepared_.config.seed, run_.path()));
    } catch (const Error& e) {
      if (e.exit() != Exit::store) throw;
      log_.warn(fmt::format(
          "the learning record continues without the cosine to the first weights: {}", e.what()));
    }
  }

  std::vector<MatrixLearning> measured(const Moment& m) {
    return record_.measure(m.values, *prepared_.pool);
  }

  // The frame's sample; "" if there is no frame: if the run has diverged, training itself finds
  // out.
  std::string add(const Shot& shot) try {
    const Frame frame = film_.frame(shot);
    run_.append(kFilm, frame.line);
    frames_.push_back({shot.step, std::isfinite(shot.valid_loss)});
    if (const auto too_many = surplus(frames_, film_.cost()); !too_many.empty() && !shot.end) {
      run_.drop_frames(too_many);
      std::erase_if(frames_, [&](const FrameStep& f) { return too_many.contains(f.step); });
    }
    return frame.sample;
  } catch (const Error& e) {
    if (e.exit() != Exit::diverged) throw;
    return "";
  } catch (const std::bad_alloc&) {
    on_ = false;
    log_.warn("film.jsonl gets no more frames: not enough memory for one");
    return "";
  }

  const PreparedRun& prepared_;
  RunWriter& run_;
  Log& log_;
  Film film_;
  LearningRecord record_;
  std::vector<FrameStep> frames_;
  bool on_ = false, looks_ = false, validates_ = false;
  double valid_loss_ = kNotMeasured;  // of the last step
};

}  // namespace

std::unique_ptr<Listener> film_listener(const Heard& heard) {
  return std::make_unique<FilmListener>(heard);
}

}  // namespace heed
