// One checkpoint folder: model.safetensors, config.json, tokenizer file(s), state.json and, unless
// it is an exported model, training.safetensors (adam.m.TENSOR, adam.v.TENSOR, muon.m.TENSOR and
// sgd.m.TENSOR are moments; raw.TENSOR the weights themselves where the model is their average).
//
// No file holds wall time, host or path: the same contents give the same bytes. A Checkpoint that
// opened is whole: every file that state.json names is there with its checksum and nothing
// else but dot-files, which file managers leave and heed ignores. Its tensors stay readable when a
// saver removes its folder. No global state; a background thread may write as long as the caller
// does not change the contents.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/std_names.h"
#include "step/stepper.h"
#include "store/safetensors.h"
#include "store/state.h"
#include "text/tokenizer.h"

namespace heed {

struct CheckpointContents {
  vector<TensorSlot> model;
  vector<TensorSlot> training;  // Adam's moments etc.
  bool exported = false;        // no training.safetensors: can be used, not resumed
  string config;                // text of config.json
  vector<NamedBytes> tokenizers;
  State state;
  function<void()> meanwhile = [] {};  // called after each tensor and file
};

// Writes parent/name: a temporary sibling (".tmp-NAME-..."), every file synced, then renamed into
// place. When it returns the checkpoint is durable; when it throws, parent/name is unchanged
// or the new one, whole. An existing parent/name is renamed (".tmp-old-NAME") and removed
// afterwards.
void write_checkpoint(const fs::path& parent, const string& name,
                      const CheckpointContents& contents);

// Removes what killed writes left in `parent` (an old checkpoint that was just renamed is
// restored). Only for the one process that writes there.
void clean_up(const fs::path& parent);

class Checkpoint {
 public:
  // Reads the small files and verifies all checksums. Throws Error (Exit::store) that names the
  // file and what is wrong with it. Never writes. `with_weights` false: without those of tensors,
  // which cannot be loaded then.
  static Checkpoint open(const fs::path& folder, bool with_weights = true);

  fs::path folder;
  State state;
  bool has_training = false;      // else it is an exported model
  string config;                  // text of config.json
  vector<NamedBytes> tokenizers;  // ordered by name

  // Of one opened with_weights: what is in kModelFile, or if it has_training in kTrainingFile.
  // Error if a number is not finite. One load at a time.
  void load(const char* file, span<const TensorSlot> tensors) const;

 private:
  map<string, unique_ptr<InputFile>> files_;  // of tensors; none: not to be loaded
};

// Has checkpoints/ changed since, as far as clocks can say?
bool saved_since(const fs::path& run, fs::file_time_type time);

// Calls read(), which reads checkpoints of a run while another process may save: again if it fails
// while checkpoints/ changes. (A saver removes a checkpoint one save after another superseded it.)
// Nothing here writes. Unreadable is never treated as damage.
template <class Read>
auto read_beside_saver(const fs::path& run, Read read) {
  for (int left = 5;; --left) {
    const auto begin = fs::file_time_type::clock::now();
    try {
      return read();
    } catch (const Error&) {
      if (left == 1 || !saved_since(run, begin)) throw;
    }
  }
}

// Opens the checkpoint that find_checkpoint() finds. The Error (Exit::store) on a damaged one names
// the newest step of the run that is whole.
Checkpoint open_checkpoint(const fs::path& run, const string& which = "");

struct DamagedCheckpoint {
  fs::path folder;
  string reason;
};

struct NewestCheckpoint {
  optional<Checkpoint> checkpoint;    // the newest whole step that can be resumed
  vector<DamagedCheckpoint> damaged;  // newer ones that are not, newest first
};
// Of those of steps up to one. `with_weights` as of open().
NewestCheckpoint newest_checkpoint(const fs::path& run, int64_t up_to = kAnyStep,
                                   bool with_weights = true);

// The numbers of a training as tensors. training.safetensors: the moments of the optimizer and,
// where others are used, the trained weights (`raw`).
vector<TensorSlot> training_slots(Stepper& stepper);
vector<TensorSlot> training_slots(const ParamTable& table, Optimizer<float>& optimizer,
                                  ParamVec<float>* raw);

}  // namespace heed
