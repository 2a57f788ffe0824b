// The film of a run: which steps have a frame, and the measuring of the matrices around an update.
//
// A frame is made after the update, or after the validation that follows it. If a signal interrupts
// that validation, the frame is made when a resume makes up for it; then the gradient and the
// update are not known any more.
//
// Where a run stops, the step has a frame in any case, and so has the one whose checkpoint is the
// best: these are marked `end`, and a resume drops them. The frame of the best is made from its
// checkpoint, once, and written last: a frame at every new best would cost too much time.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "base/fields.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "show/learning_record.h"
#include "store/checkpoint.h"
#include "store/model.h"
#include "store/run_folder.h"
#include "train/listener.h"

namespace heed {
namespace {

constexpr int kSampleColumns = 76;

class FilmListener : public RunListener {
 public:
  using RunListener::RunListener;

  void began(const Moment& m) override {
    on_ = !c_.film.empty() && can_be_film(c_.run.path());
    if (!on_) return;
    continue_film(m.state.step);
    if (!on_) return;
    c_.log.info("prompt      | " + shortened(printable(c_.film.prompt()), kSampleColumns));
    first_weights(m);
    if (m.state.step == 0 && is_next(0, false)) say_sample(0, add_now({}, m));
  }

  bool looks_at(int64_t step, bool validates) override {
    validates_ = validates;
    valid_loss_ = kNotMeasured;
    looks_ = on_ && (step == c_.prepared.plan.steps || is_next(step, validates));
    return looks_;
  }

  void before_update(const ParamVec<float>& values, const ParamVec<float>& gradients) override {
    if (looks_) record_.before_update(values, gradients);
  }

  void stepped(const Moment& m) override {
    if (!validates_ && on_ && is_next(m.state.step, false))
      add_now({.train_loss = m.last.loss()}, m);
  }

  void validated(const ValidEvent& line, const Moment& m) override {
    valid_loss_ = line.loss;
    const bool planned = validates_ || m.last.tokens == 0;  // else the end of a run
    if (!planned || !on_ || !is_next(line.step, true)) return;
    say_sample(line.step, add_now({.valid_loss = line.loss}, m));
  }

  void ended(Stop, const Moment& m) override {
    if (!on_) return;
    if (!has_frame(m.state.step)) add_now({.valid_loss = valid_loss_, .end = true}, m);
    const auto best = c_.run.best();
    if (on_ && best && !has_frame(best->step)) add_best(*best);
  }

 private:
  void say_sample(int64_t step, const string& sample) {
    if (!sample.empty())
      c_.log.detail(
          fmt::format("sample{:5} | {}", step, shortened(printable(sample), kSampleColumns)));
  }

  // Another prompt than before has another probe. Without it, no frame could be read.
  void continue_film(int64_t step) {
    const RecordedFrames so_far = read_frames(c_.run.path());
    Probe probe = c_.film.probe();
    probe.step = so_far.probe.step;
    if (text_of(so_far.probe) == text_of(probe)) {
      for (const Frame& frame : so_far.frames) steps_.push_back(frame.step);
      return;
    }
    probe.step = step;
    on_ = c_.run.append(kFilm, text_of(probe));
  }

  bool has_frame(int64_t step) const { return ranges::count(steps_, step) > 0; }
  bool is_next(int64_t step, bool validated) const {
    return is_frame(step, validated, steps_.empty() ? -1 : steps_.back());
  }

  // For the cosines to them, and for the names of heads.
  void first_weights(const Moment& m) try {
    const auto begin_with = [&](const ParamVec<float>& first) {
      record_.began_with(first);
      c_.film.began_with(first);
    };
    if (m.state.step == 0) return begin_with(m.values);
    begin_with(initial_weights(c_.prepared.model, c_.prepared.config.seed, c_.run.path()));
  } catch (const Unreadable&) {
    throw;  // they may come back
  } catch (const Error& e) {
    if (e.exit() != Exit::store) throw;
    c_.log.warn(fmt::format(
        "the learning record continues without the cosine to the first weights: {}", e.what()));
  }

  // Adds the frame of this moment, of which `known` has the losses. Its sample; "" if there is no
  // frame.
  string add_now(Frame known, const Moment& m) {
    known.step = m.state.step;
    known.matrices = record_.measure(m.values, *c_.prepared.pool);
    return add(std::move(known), m.used);
  }

  // Adds the frame of an earlier step's checkpoint, if that can be read.
  void add_best(const State& best) try {
    record_ = LearningRecord(c_.prepared.model.table);  // makes room
    ParamVec<float> values(c_.prepared.model.table.size());
    Checkpoint::open(c_.run.checkpoints() / step_folder_name(best.step))
        .load(kModelFile, tensor_slots(c_.prepared.model.table, values));
    add({.step = best.step, .valid_loss = best.valid_loss, .end = true}, values);
  } catch (const Error& e) {
    if (e.exit() != Exit::store) throw;
  } catch (const bad_alloc&) {
  }

  // If the run has diverged, training itself finds out.
  string add(Frame known, const ParamVec<float>& used) try {
    const FilmedFrame filmed = c_.film.frame(std::move(known), c_.prepared.with(used));
    c_.run.append(kFilm, text_of(filmed.frame));
    steps_.push_back(filmed.frame.step);
    return filmed.sample;
  } catch (const Error& e) {
    if (e.exit() != Exit::diverged) throw;
    return "";
  } catch (const bad_alloc&) {
    on_ = false;
    c_.log.warn("film.jsonl gets no more frames: not enough memory for one");
    return "";
  }

  LearningRecord record_{c_.prepared.model.table};
  vector<int64_t> steps_;  // of the frames
  bool on_ = false, looks_ = false, validates_ = false;
  double valid_loss_ = kNotMeasured;  // of the last step
};

}  // namespace

unique_ptr<Listener> film_listener(const ListenerContext& context) {
  return make_unique<FilmListener>(context);
}

}  // namespace heed
