// The training loop: steps, and at intervals a log line, a validation, a checkpoint.
//
// Besides its config and data, a run is the Stepper's numbers and a State. A checkpoint holds
// exactly these, so a resumed run writes the bytes that an uninterrupted one would have written.
// The loop runs on the calling thread; the pool's threads do the arithmetic.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "data/batch_feed.h"
#include "step/stepper.h"
#include "store/run_writer.h"
#include "train/divergence.h"
#include "train/film.h"
#include "train/learning_record.h"
#include "train/loss_curves.h"
#include "train/prepared_run.h"
#include "train/validation.h"

namespace heed {

enum class Stop { finished, early, asked, signal, time };

class Trainer {
 public:
  // All references must outlive the trainer.
  Trainer(const PreparedRun& prepared, RunWriter& run, Log& log);

  // Instead of a start at step 0 from the seed:
  void restore(const Checkpoint& checkpoint);
  // With these weights; saved at once as step 0.
  void start_from(const ParamVec<float>& weights);
  // With a checkpoint of another run; saved at once in this one, with this config.
  void adopt(const Checkpoint& checkpoint) {
    restore(checkpoint);
    save();
  }
  // Begins or continues the film; call before run(). It must outlive the trainer.
  void film_with(const Film& film) { film_.emplace(film, state_.step, run_, log_); }

  // Trains until the config, `stop_at` (0: no limit) or a signal ends it, and saves. Error
  // (diverged) leaves the checkpoints as they are.
  Stop run(std::int64_t stop_at);

  const State& state() const { return state_; }

 private:
  std::optional<Stop> reason_to_stop(std::int64_t stop_at) const;
  void step();
  [[noreturn]] void diverged(std::int64_t step, const std::string& what);
  void log_line();
  bool validate(bool counts);
  void add_frame(bool validated);
  void save();
  std::vector<TensorSlot> model_slots();
  std::vector<TensorSlot> training_slots();
  double eta_seconds() const;

  const PreparedRun& prepared_;
  RunWriter& run_;
  Log& log_;

  std::unique_ptr<const Objective> objective_;
  std::optional<Validation> validation_;
  BatchFeed feed_;
  Stepper stepper_;
  LearningRecord record_;
  std::optional<FilmWriter> film_;
  State state_;

  Cursor previous_;                           // before the last step
  std::int64_t validated_ = -1, saved_ = -1;  // last steps
  double valid_loss_ = kNotMeasured;          // of the last validation
  StepResult last_;
  std::optional<Learning> learning_;  // of the last step, if it is recorded
  LossCurves curves_;                 // of this process
  bool warned_of_overfitting_ = false;

  // Speed, for people only: wall time never enters the state.
  double started_ = 0;                          // when run() began
  double step_seconds_ = 0, line_seconds_ = 0;  // spent in steps; of these since the last line
  std::int64_t tokens_since_line_ = 0, steps_done_ = 0;
};

}  // namespace heed
