// What a run says of itself, read once, for all who show a training: its config, where it comes
// from, the states of its checkpoints and what it has logged. (Those who use its weights open a
// checkpoint, and the frames of its film are read by those who show them: store/run_records.h.)
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "data/run_config.h"
#include "store/origin.h"
#include "store/run_end.h"
#include "store/run_records.h"

namespace heed {

struct Run {
  std::filesystem::path folder;
  RunConfig config = {};  // config.json
  Origin origin = {};
  std::vector<State> states = {};  // of its checkpoints of steps, ascending, but for damaged ones
  std::optional<State> best = {};  // of these (store/run_folder.h)
  bool damaged = false;            // a checkpoint has no state
  LoggedEvents logged = {};
  bool locked = false;  // a process is writing it

  End end() const { return states.empty() ? End::none : end_of(config.train, states.back()); }
};

// Checkpoints and events of steps up to one. Error (Exit::store) if it is no run, or if one of its
// files cannot be read.
Run read_run(const std::filesystem::path& folder, std::int64_t up_to = kAnyStep);

}  // namespace heed
