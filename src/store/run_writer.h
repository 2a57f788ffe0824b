// Writes what a run is continued from, and holds the folder's lock as long as it lives. (Its log,
// report.html and tensorboard/ are written beside it.)
//
// save() may run in a background thread while another appends metrics, but not two saves at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/std_names.h"
#include "store/checkpoint.h"
#include "store/run_folder.h"
#include "store/run_records.h"

namespace heed {

// Does a process write this run? Changes nothing.
bool is_locked(const fs::path& run);

// An exclusive lock on a run folder, held through the file RUN/.lock (flock), which carries the
// holder's process id. The kernel releases it when the process ends, however it ends; programs
// that the process starts do not inherit it.
class RunLock {
 public:
  // Error (Exit::usage) with the holder's process id if another has it.
  explicit RunLock(const fs::path& run);
  ~RunLock();
  RunLock(RunLock&& other) noexcept;

  // Error (Exit::store) unless `run` is the folder that was locked: it may have been moved or
  // removed, and another be in its place.
  void require_held(const fs::path& run) const;

 private:
  int fd_ = -1;
};

// "runs/x/" -> "runs/x" and "." -> "/home/me/runs/x", so that it can be renamed.
fs::path with_name(const fs::path& path);
// "a/NAME.old-K" for "a/NAME", K the first free number.
fs::path free_name(const fs::path& path);
// "a/NAME-2" for the run "a/NAME", and "a/NAME-3" for its branch "a/NAME-2": the first free one.
fs::path next_name(const fs::path& run);
// Does `other` say that it is a branch of `run`, of these very steps?
bool is_branch_of(const fs::path& other, const fs::path& run);

// The files that a run begins with.
struct FirstFiles {
  string origin, config;  // of origin.json and config.json
  fs::path text;          // the file copied to text.txt, or empty
};

// Which checkpoints stay: train.keep_last and train.keep_every.
struct Keep {
  int last;             // 0: all
  int64_t every = 0;    // 0: none
  int64_t spared = -1;  // a step that stays
};

class RunWriter {
 public:
  // Error (Exit::usage) if something is at `run`, but for an empty folder; with `force`, only if it
  // is no run (Exit::store).
  static void require_free(const fs::path& run, bool force);
  // Error (Exit::store) if checkpoints/ is a link: another run may write the folder it leads to.
  static void require_own_checkpoints(const fs::path& run);
  // A new run with its first files, in a hidden folder beside `run` until put_in_place(): a start
  // that fails before leaves nothing, and one that is killed only what the next one removes. An
  // existing run is an Error (Exit::usage), unless `force`; so is one that is not a run
  // (Exit::store), and a file system that cannot hold one.
  static RunWriter create(const fs::path& run, bool force, const FirstFiles& first = {});
  // Gives a new run its name, once it can be resumed. With `force` a run of this name is renamed to
  // free_name(): an Error (Exit::usage) if another process is writing it.
  void put_in_place();
  // An existing run, to continue it: takes the lock and removes what killed saves left behind.
  // Error (Exit::store) if it cannot be read now.
  static RunWriter open(const fs::path& run);
  ~RunWriter();  // removes what the last save superseded
  RunWriter(RunWriter&&) = default;
  // Before the first change to it: what has the place of a link, as in a copy, and these damaged
  // checkpoints get other names.
  void begin_writing(const vector<DamagedCheckpoint>& damaged = {});

  const fs::path& path() const { return run_; }
  // What a user should know of what happened since the last call.
  vector<string> take_notes() { return exchange(notes_, {}); }
  // The best of the checkpoints that it may continue from, or has written itself.
  optional<State> best() const { return best_of(states_); }
  fs::path checkpoints() const { return run_ / kCheckpoints; }

  void write_config(string_view json) { replace_file(run_ / kConfigFile, json); }

  // Makes checkpoints/step-N durable, then `last` and `best` (best_of()), and removes what the save
  // before superseded: all but the `keep.last` newest (0: keeps all), multiples of `keep.every`,
  // those two, the steps 0 and `keep.spared`, and what could not be read. (Who began to read a
  // checkpoint then has a save's time to open its files.) Lines appended before are durable too.
  // When it throws, the old or the new checkpoint is there whole. Error (Exit::store) if the run
  // folder was moved or removed.
  void save(const CheckpointContents& contents, Keep keep);
  // The end of a save: chain, links and pruning. Resuming calls it too: a killed save may not have
  // got that far. `step`: of the last checkpoint; later ones are damaged and do not count.
  void finish_save(int64_t step, Keep keep);

  // Takes over metrics.jsonl and film.jsonl of a run, perhaps its own, to continue after `step`:
  // without lines of later steps, a torn last one and, unless with `ends`, the frames marked `end`.
  // A film that is missing or cannot be one is left as it is.
  void copy_lines(const fs::path& from, int64_t step, bool ends = false);
  // A line of kMetrics, begun again if it was moved or removed, or of the run's kFilm. One that
  // cannot be written is lost, which is noted once. Was it written?
  bool append(const char* file, string_view json_line);

 private:
  RunWriter(fs::path run, RunLock lock);
  void rename_aside(const fs::path& path, const fs::path& named, const char* why);
  void remove_checkpoint(int64_t step);

  fs::path run_;
  unique_ptr<NewFolder> new_;  // until put_in_place()
  RunLock lock_;
  vector<string> notes_;
  set<string_view> losing_lines_;  // the files that take no lines at present
  vector<State> states_;           // of the checkpoints, as far as they could be read
  vector<int64_t> superseded_;     // steps that the next save removes
  string stem_;  // of a branch: the hash of the line of the chain that it comes from
};

// chain.jsonl of a run: a line for every save, with the SHA-256 of every file of the checkpoint, of
// the data, of the program, and of the line before (docs/formats.md). scripts/audit.py repeats any
// part of the training from it. Nothing in it is secret: only repeating proves.
// Adds the line that says that the checkpoint of this step is there now, unless the last one says
// so. The first one follows the line with the hash `stem`. Cuts off a torn last line.
void extend_chain(const fs::path& run, int64_t step, const string& stem);

// The hash that the first line follows, or "".
string stem_hash(const fs::path& run);

// The hash of the last line of this step, or "".
string chain_hash(const fs::path& run, int64_t step);

// Of each step that was saved, by name: the SHA-256 of its files. Error (store) on a damaged line.
using SavedSteps = map<int64_t, map<string, string>>;
SavedSteps chain_steps(const fs::path& run);

}  // namespace heed
