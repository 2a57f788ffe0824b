// A run folder as its readers see it: where things are (RUN/config.json,
// RUN/checkpoints/step-00001000/state.json), which checkpoints exist and which one is meant.
// Nothing here writes, so it works on a read-only disk and during training.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/std_names.h"
#include "store/state.h"

namespace heed {

inline constexpr const char* kCheckpoints = "checkpoints";
inline constexpr const char* kRewound = "rewound";         // steps trained anew (train/rewind.h)
inline constexpr const char* kConfigFile = "config.json";  // of a run, and of each checkpoint
inline constexpr const char* kOriginFile = "origin.json";
inline constexpr const char* kMetrics = "metrics.jsonl";
inline constexpr const char* kFilm = "film.jsonl";
inline constexpr const char* kChain = "chain.jsonl";
inline constexpr const char* kTrainLog = "train.log";
inline constexpr const char* kRunText = "text.txt";  // what heed train read from standard input
inline constexpr const char* kTensorboard = "tensorboard";
inline constexpr const char* kLockFile = ".lock";
inline constexpr const char* kRunFiles[] = {kConfigFile, kOriginFile,  kMetrics,  kFilm, kTrainLog,
                                            kRunText,    kTensorboard, kLockFile, kChain};

// What training writes at its end for people (cli/train.cpp); other commands may write them anew.
inline constexpr const char *kReportPage = "report.html", *kLivePage = "live.html";

inline constexpr uint64_t kMaxConfigFile = 16u << 20;

// The lines of store/run_records.h.
inline constexpr const char* kLineFiles[] = {kMetrics, kFilm};

// Folders in checkpoints/ begin with one of these: step-00001000, average-100-500.
inline constexpr string_view kStepPrefix = "step-", kAveragePrefix = "average-";

inline constexpr string_view kOldRun = ".old-";  // NAME.old-K: the run before --force

// Of a checkpoint, with config.json and tokenizers.
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kTrainingFile = "training.safetensors";
inline constexpr const char* kStateFile = "state.json";

inline bool is_run(const fs::path& folder) {
  return is_folder(folder / kCheckpoints) && fs::exists(folder / kConfigFile, ignored());
}

// Also a damaged one.
inline bool is_checkpoint(const fs::path& folder) {
  return fs::exists(folder / kStateFile, ignored()) || fs::exists(folder / kModelFile, ignored());
}

// Would a file of this name damage a run or a checkpoint? Other files may be written beside a
// run's own.
inline bool is_part_of_run(const fs::path& file) {
  const auto has = [&](const char* name) {
    return fs::exists(file.parent_path() / name, ignored());
  };
  return (has(kStateFile) && has(kModelFile)) ||
         (has(kCheckpoints) && ranges::count(kRunFiles, file.filename().string()) > 0);
}

string step_folder_name(int64_t step);  // "step-00001000"
fs::path step_folder(const fs::path& run, int64_t step);

// The names in a folder that are runs, as far as their checkpoints/ shows it; none if it is no
// folder or cannot be listed. `old`: also NAME.old-K.
vector<string> names_of_runs(const fs::path& folder, bool old = false);

// Steps that have a name in checkpoints/, ascending. Not checked for damage.
vector<int64_t> list_steps(const fs::path& run);

// state.json of a checkpoint folder. Error (Exit::store) that names it if it is damaged, or is not
// what the folder's name says: in checkpoints/, step-N is no link, of step N, and can be resumed;
// average-M-N is of step N and cannot. Any other folder may have any name.
StateFile read_state(const fs::path& checkpoint);

// Of two checkpoints of a run: their metrics decide (train.select_by) if both have one, else the
// losses of their own validations, else the earlier one. Any validation is better than none; if
// neither was validated, the later one is.
bool is_better(const State& one, const State& other);
// The best validation up to a checkpoint, of those that count for train.patience; step -1: none.
State best_so_far(const State& checkpoint);
// The best of those present, which the link `best` only repeats; nothing if there are none.
optional<State> best_of(const vector<State>& states);

// The states of the checkpoints of steps up to one, ascending. Without those that are damaged, as
// far as their state.json shows it, or that a saver has removed meanwhile. Error (store) if one
// cannot be read now.
vector<State> states_of(const fs::path& run, int64_t up_to = kAnyStep);

// The checkpoint folder that the user means. `run` is a run folder, or itself a checkpoint folder
// if `which` is empty. `which`: "" (best, else last), "best", "last", "step-N" (zeros optional),
// the name of another folder in checkpoints/, or the path of a checkpoint folder. A step may also
// be in rewound/, where nothing else looks (train/rewind.h). The links best
// and last must lead to a step of the run's own; without them (a copy may lack them)
// the rule of best_of() says which are meant. Error (Exit::store) says what exists.
fs::path find_checkpoint(const fs::path& run, const string& which = "");

// Which of these have the same weights as one before them (copies, links, a run that stands twice):
// "a and b are the same model"; "" if none. As in find_checkpoint(); what it does not find is none.
string same_models(const vector<string>& runs);

// A path that is absolute, without dots or a final slash; links stay.
fs::path written_out(const fs::path& folder);

// The last name of a checkpoint folder's path, however the path is written: "step-00001000".
string checkpoint_name(const fs::path& checkpoint);

// The run that a checkpoint folder belongs to: RUN/checkpoints/step-N, or an exported one.
fs::path run_of_checkpoint(const fs::path& checkpoint);

}  // namespace heed
