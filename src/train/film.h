// The film of a run, film.jsonl: where the model looks and what it writes as it learns.
//
//   {"kind": "probe", "step": 0, ...}   what every frame is about
//   {"kind": "frame", "step": s, ...}   a frame; inspect/run_film.h says what is in it
//
// Training decides when there is a frame; a Film makes it. (train/ may not include inspect/, hence
// this interface.) Which steps have frames depends on the steps and the config alone, so stopping
// and resuming a run does not change its film. Filming changes no number of the training.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/log.h"
#include "store/run_writer.h"

namespace heed {

template <class T>
class ParamVec;

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

struct Moment {
  std::int64_t step = 0;
  const ParamVec<float>& values;
  double train_loss = kNotMeasured, valid_loss = kNotMeasured;
};

struct Frame {
  std::string line;    // of film.jsonl
  std::string sample;  // what the model writes, as text, for the log
};

class Film {
 public:
  virtual ~Film() = default;
  virtual std::string probe() const = 0;  // the first line of film.jsonl
  virtual double cost() const = 0;        // of a frame, at most, in steps of training
  // Error (diverged) if the model's numbers are not finite.
  virtual Frame frame(const Moment& moment) const = 0;
};

// The frames so far.
struct FilmLength {
  std::int64_t frames = 0, last = -1;  // step of the last one
};

// Is there a frame at this step, after these? At 0, 1, 2, 4, 8, ... and at validations, though ever
// more rarely: fewer than a hundred in millions of steps. None that would make the film take more
// than 2 % of the time, except for the first 16 frames, which may take a larger share of a run of a
// few hundred steps.
bool is_frame(const FilmLength& film, std::int64_t step, bool validated, double cost);

// Continues film.jsonl of a run. A film begins at step 0 only. One with another probe, or a missing
// one, is left as it is.
class FilmWriter {
 public:
  // References must outlive the writer. The run's film is cut back to `step`.
  FilmWriter(const Film& film, std::int64_t step, RunWriter& run, Log& log);
  void add(const Moment& moment, bool validated);  // if this step has a frame

 private:
  const Film& film_;
  RunWriter& run_;
  Log& log_;
  FilmLength length_;
  bool on_ = false;
};

}  // namespace heed
