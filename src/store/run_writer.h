// The only writer of a run folder. Holds the folder's lock (RUN/.lock) as long as it lives; the
// kernel releases it when the process dies.
//
// save() may run in a background thread while another appends metrics, but not two saves at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"
#include "store/checkpoint.h"
#include "store/metrics_file.h"
#include "store/run_lock.h"

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
  // `force` renamed to NAME.old-K, K the first free number. An Error if another process is writing
  // it, or if it is not a run (Exit::store), or if the file system cannot hold one. A failed
  // start leaves no folder, and the old run under its name.
  static RunWriter create(const std::filesystem::path& run, bool force,
                          const FirstFiles& first = {}, SystemCalls& calls = system_calls());
  // An existing run, to continue it: takes the lock and removes what killed saves left behind.
  static RunWriter open(const std::filesystem::path& run, SystemCalls& calls = system_calls());

  const std::filesystem::path& path() const { return run_; }
  std::filesystem::path checkpoints() const { return run_ / kCheckpoints; }

  void write_config(std::string_view json);  // config.json

  // Makes checkpoints/step-N durable, then `last` and (if state.best_step has a folder) `best`,
  // then removes all but the `keep_last` newest (0: keeps all), those two and step 0. Metrics and
  // film appended before are durable too. When it throws, the old or the new checkpoint is there
  // whole.
  void save(const CheckpointContents& contents, int keep_last);
  // A checkpoint of another name, e.g. "average-100-500"; links and old ones stay as they are.
  void save_as(const std::string& name, const CheckpointContents& contents);
  // The end of a save: the links and the pruning. Resuming calls it too: a killed save may not have
  // got that far.
  void finish_save(const State& state, int keep_last);

  // metrics.jsonl, to continue after `step`: drops every line of a later step and a torn last one;
  // and likewise film.jsonl, if there is one.
  MetricsCut cut_metrics(std::int64_t step) { return copy_metrics(run_, step); }
  // The same with those of another run, which is not changed.
  MetricsCut copy_metrics(const std::filesystem::path& from, std::int64_t step);
  void append_metrics(std::string_view json_line);
  void append_film(std::string_view json_line);  // the run has a film

 private:
  RunWriter(std::filesystem::path run, RunLock lock, SystemCalls& calls);
  void set_links(const State& state);
  void prune(std::int64_t step, int keep_last);

  std::filesystem::path run_;
  RunLock lock_;
  SystemCalls* calls_;
  std::unique_ptr<AppendFile> metrics_, film_;  // film_: null if there is none, or before a cut
};

}  // namespace heed
