// What a run says of itself, read once, for all who show a training: its config, where it comes
// from, the states of its checkpoints and what it has logged. (Those who use its weights open a
// checkpoint, and the frames of its film are read by those who show them: store/run_records.h.)
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "config/train_config.h"
#include "data/dataset.h"
#include "data/run_config.h"
#include "store/run_records.h"
#include "store/state.h"

namespace heed {
struct Model;

// origin.json of a run: where it comes from. The folder that the data's relative paths start from,
// the data's hash, the run it took its weights from or branched from, and the command line. For
// people it also says when the run began, with which version of heed and on which processor.
struct Origin {
  string folder;     // "" if unknown; "." in the file is the run folder
  DataHash hash;     // empty if unknown
  string init_from;  // of --init-from, or ""
  string command;
  string branched_from = "";  // of heed resume --branch: the run, or ""
  int64_t branched_at = 0;    // its step
  vector<string> given = {};  // the keys that --set gave

  // The run whose weights it began with, or "".
  const string& weights_of() const { return branched_from.empty() ? init_from : branched_from; }
};
void fields(Origin& o, auto visit) {
  visit("folder", o.folder, "data_sha256", o.hash.data, "valid_sha256", o.hash.valid, "init_from",
        o.init_from, "branched_from", o.branched_from, "branched_at", o.branched_at, "command",
        o.command, "given", o.given);
}

// Its name: "fables.txt", "notes, 40 files", "dates pairs".
string data_in_words(const DataConfig& data);

string origin_json(const Origin& origin);  // of a run that begins now, on this machine
string processor_name();                   // "AMD EPYC 7763", or "" if unknown

// Of a run or one of its checkpoints; all empty if it is missing. Error (store) on a damaged
// file.
Origin read_origin(const fs::path& run);

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

// Does the config end the training there, or --stop-at (0: no limit)?
inline Stop end_of(const TrainConfig& t, const State& s, int64_t stop_at = 0) {
  const auto reached = [](int64_t at, int64_t limit) { return limit > 0 && at >= limit; };
  return reached(s.step, t.max_steps) || reached(s.cursor.epoch, t.max_epochs) ? Stop::finished
         : reached(s.stalled, t.patience)                                      ? Stop::early
         : reached(s.step, stop_at)                                            ? Stop::asked
                                                                               : Stop::none;
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

// Where a run's data is: as `config` names it from the folder in which the run began. If files are
// missing there, because the run was moved: where the longest ends of its paths lead from here,
// from the run or from the two folders above it, to files of the recorded hash; else to any files.
struct DataPlace {
  RunConfig config;
  string folder;
  string moved = "";  // says so
};
DataPlace data_place(const RunConfig& config, const fs::path& run, const Origin& origin);
// Of a model's run, as RUN/config.json names it: the files may have moved since (heed resume --set
// data.train=PATH). Error (store) on a damaged origin.json.
DataPlace data_place(const Model& model);

// "RUN is still training: step 700 of 1000", or "".
string still_training(const fs::path& folder);

// Checkpoints and events of steps up to one. Error (Exit::store) if it is no run, or if one of its
// files cannot be read.
Run read_run(const fs::path& folder, int64_t up_to = kAnyStep);

}  // namespace heed
