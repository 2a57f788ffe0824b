// A run folder as its readers see it: which checkpoints exist and which one is meant. Nothing
// here writes, so it works on a read-only disk and during training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "store/state.h"

namespace heed {

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
vector<State> states_of(const fs::path& run, int64_t up_to = std::numeric_limits<int64_t>::max());

// The checkpoint folder that the user means. `run` is a run folder, or itself a checkpoint folder
// if `which` is empty. `which`: "" (best, else last), "best", "last", "step-N" (zeros optional),
// the name of another folder in checkpoints/, or the path of a checkpoint folder. The links best
// and last must lead to a step of the run's own; without them (a copy may lack them)
// the rule of best_of() says which are meant. Error (Exit::store) says what exists.
fs::path find_checkpoint(const fs::path& run, const string& which = "");

// Which of these have the same weights as one before them (copies, links, a run that stands twice):
// "a and b are the same model"; "" if none. As in find_checkpoint(); what it does not find is none.
string same_models(const vector<string>& runs);

// The last name of a checkpoint folder's path, however the path is written: "step-00001000".
string checkpoint_name(const fs::path& checkpoint);

// The run that a checkpoint folder belongs to: RUN/checkpoints/step-N, or an exported one.
fs::path run_of_checkpoint(const fs::path& checkpoint);

}  // namespace heed
