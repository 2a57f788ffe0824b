// The only writer of a run folder. Holds the folder's lock (RUN/.lock) as long as it lives; the
// kernel releases it when the process dies.
//
// save() may run in a background thread while another appends metrics, but not two saves at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "store/best.h"
#include "store/checkpoint.h"
#include "store/run_lock.h"
#include "store/run_records.h"

namespace heed {

// The files that a run begins with.
struct FirstFiles {
  std::string origin, config;  // of origin.json and config.json
  std::filesystem::path text;  // the file copied to text.txt, or empty
};

class RunWriter {
 public:
  // Error (Exit::usage) if create() would refuse `run` because it already exists; with `force`,
  // only if it is not a run (Exit::store).
  static void require_free(const std::filesystem::path& run, bool force);
  // A new run folder, put in place whole. An existing path is an Error (Exit::usage), or with
  // `force` renamed to NAME.old-K, K the first free number. What a start that was killed left there
  // is taken over. An Error if another process is writing
  // it, or if it is not a run (Exit::store), or if the file system cannot hold one. A failed
  // start leaves no folder, and the old run under its name.
  static RunWriter create(const std::filesystem::path& run, bool force,
                          const FirstFiles& first = {}, SystemCalls& calls = system_calls());
  // An existing run, to continue it: takes the lock and removes what killed saves left behind. What
  // has the place of a link, as in a copy, gets another name.
  static RunWriter open(const std::filesystem::path& run, SystemCalls& calls = system_calls());

  const std::filesystem::path& path() const { return run_; }
  // What a user should know of what happened since the last call.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }
  // The best of the checkpoints that it may continue from, or has written itself.
  std::optional<BestCheckpoint> best() const;
  std::filesystem::path checkpoints() const { return run_ / kCheckpoints; }

  void write_config(std::string_view json);  // config.json

  // The step of a checkpoint that no save removes, though an earlier or later one of before does.
  void keep(std::int64_t step) { keeps_ = step; }
  std::int64_t keeps() const { return keeps_; }  // -1: none

  // Makes checkpoints/step-N durable, then `last` and `best` (store/best.h), then removes all but
  // the `keep_last` newest (0: keeps all), those two, step 0, keeps(), and what could not be read.
  // Lines appended before are durable too. A run folder that was renamed is followed, and a file of
  // lines that was moved or removed is begun again; both are noted. When it throws, the old or the
  // new checkpoint is there whole.
  void save(const CheckpointContents& contents, int keep_last);
  // A checkpoint of another name, e.g. "average-100-500"; links and old ones stay as they are.
  void save_as(const std::string& name, const CheckpointContents& contents);
  // The end of a save: the links and the pruning. Resuming calls it too: a killed save may not have
  // got that far. `step`: of the last checkpoint; later ones are damaged and do not count.
  void finish_save(std::int64_t step, int keep_last);
  // Takes the checkpoints after `step` away, so that training continues from there to another end.
  // The best of the run, if it is one of them, stays as kept-N until a better one is saved.
  void go_back(std::int64_t step);

  // metrics.jsonl and film.jsonl, to continue after `step`: drops every line of a later step and a
  // torn last one. A film that is missing or cannot be one is left as it is.
  MetricsCut cut_lines(std::int64_t step) { return copy_lines(run_, step); }
  // The same with those of another run, which is not changed.
  MetricsCut copy_lines(const std::filesystem::path& from, std::int64_t step);
  // Takes the frames of these steps out of the film, and adds one where its step belongs.
  void change_frames(const std::set<std::int64_t>& without, const std::string& added = "");
  // A line of kMetrics, or of kFilm while the run has one. One that cannot be written is lost,
  // which is noted once.
  void append(const char* file, std::string_view json_line);
  // Has a line been lost since the last call? Then it is time to save.
  bool take_lost_line() { return std::exchange(lost_line_, false); }

 private:
  RunWriter(std::filesystem::path run, RunLock lock, SystemCalls& calls);
  void free_links();
  bool follow_folder();  // true: it was renamed
  void keep_lines();
  void set_links(std::int64_t step);
  void prune(std::int64_t step, int keep_last);
  void remove_checkpoint(const std::string& name);

  std::filesystem::path run_;
  RunLock lock_;
  SystemCalls* calls_;
  std::map<std::string_view, AppendFile> lines_;
  std::vector<std::string> notes_;
  bool lost_line_ = false;
  std::set<std::string_view> losing_lines_;  // the files that take no lines at present
  std::map<std::int64_t, State> states_;     // of the checkpoints, as far as they could be read
  std::map<std::string, State> kept_;        // of go_back(), by folder
  std::int64_t keeps_ = -1;
};

}  // namespace heed
