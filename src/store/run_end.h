// Why a training stops. What the config ends leaves `heed resume` nothing to do, and makes a run
// "finished" for `heed runs`.
#pragma once

#include "config/train_config.h"
#include "store/state.h"

namespace heed {

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
  return kEndings[static_cast<int>(stop)];
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

}  // namespace heed
