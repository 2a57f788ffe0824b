// What a run says of itself, read once, for all who show a training: its config, where it comes
// from, the states of its checkpoints and what it has logged. (Those who use its weights open a
// checkpoint, and the frames of its film are read by those who show them: store/run_records.h.)
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/std_names.h"
#include "config/train_config.h"
#include "data/run_config.h"
#include "store/origin.h"
#include "store/run_records.h"
#include "store/state.h"

namespace heed {

// Why a training stops. What the config ends leaves `heed resume` nothing to do, and makes a run
// "finished" for `heed runs`.
enum class Stop { none, finished, early, asked, signal, time };

// For programs and in words, in that order.
struct Ending {
  const char *reason, *words;
};
constexpr Ending kEndings[] = {{"", ""},
                               {"finished", "finished"},
                               {"early_stopping", "stopped early"},
                               {"stop_at", "stopped and saved"},
                               {"signal", "stopped and saved"},
                               {"time", "time is up"}};
constexpr const Ending& ending_of(Stop stop) {
  return kEndings[int(stop)];
}

inline bool steps_are_done(const TrainConfig& t, const State& s) {
  return t.max_steps > 0 && s.step >= t.max_steps;
}

// Does the config end the training there? finished, early or none.
inline Stop end_of(const TrainConfig& t, const State& s) {
  if (steps_are_done(t, s) || (t.max_epochs > 0 && s.cursor.epoch >= t.max_epochs))
    return Stop::finished;
  return t.patience > 0 && s.stalled >= t.patience ? Stop::early : Stop::none;
}

struct Run {
  fs::path folder;
  RunConfig config = {};  // config.json
  Origin origin = {};
  vector<State> states = {};  // of its checkpoints of steps, ascending, but for damaged ones
  optional<State> best = {};  // of these (store/run_folder.h)
  bool damaged = false;       // a checkpoint has no state
  LoggedEvents logged = {};
  bool locked = false;  // a process is writing it

  Stop end() const { return states.empty() ? Stop::none : end_of(config.train, states.back()); }
};

// Checkpoints and events of steps up to one. Error (Exit::store) if it is no run, or if one of its
// files cannot be read.
Run read_run(const fs::path& folder, int64_t up_to = kAnyStep);

}  // namespace heed
