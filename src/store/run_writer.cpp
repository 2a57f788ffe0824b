#include "store/run_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/folders.h"
#include "base/format.h"
#include "base/input_file.h"
#include "store/run_folder.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kRemoving = ".tmp-removed-";

// "runs/x/" -> "runs/x" and "." -> "/home/me/runs/x", so that it has a name that can be changed.
fs::path with_name(const fs::path& path) {
  const fs::path run = path.has_filename() ? path : path.parent_path();
  if (run.filename() != "." && run.filename() != "..") return run;
  const fs::path whole = fs::absolute(run).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

// Renames an old run to NAME.old-K, which it returns. Nobody may be writing it.
fs::path move_away(const fs::path& run, SystemCalls& calls) {
  require_run_folder(run);
  const RunLock lock(run);
  fs::path free;
  for (int k = 1; free.empty(); ++k) {
    fs::path name = run;
    name += fmt::format(".old-{}", k);
    if (!path_exists(name)) free = name;
  }
  rename_path(run, free, calls);
  return free;
}

// Takes away a new folder with what a start makes, and nothing else.
void remove_new(const fs::path& run) {
  for (const char* name : {"checkpoints/.tmp-link", "checkpoints", "text.txt", "config.json",
                           "origin.json", kMetrics, kFilm, ".lock"}) {
    std::error_code error;
    fs::remove(run / name, error);  // of a folder: only if it is empty
    if (error) return;
  }
  std::error_code ignored;
  fs::remove(run, ignored);
}

// After a start that failed. Where even this fails, the run stays whole as NAME.old-K.
void move_back(const fs::path& old, const fs::path& run, SystemCalls& calls) {
  if (old.empty()) return;
  try {
    if (path_exists(run)) return;  // somebody else was faster
    rename_path(old, run, calls);
    sync_folder(folder_of(run), calls);
  } catch (const Error&) {
  }
}

}  // namespace

RunWriter::RunWriter(fs::path run, RunLock lock, SystemCalls& calls)
    : run_(std::move(run)), lock_(std::move(lock)), calls_(&calls) {}

void RunWriter::require_free(const fs::path& run, bool force) {
  if (!path_exists(run)) return;
  if (force) return require_run_folder(run);
  if (!path_exists(run / "config.json"))
    throw Error(Exit::usage,
                quoted_path(run) +
                    " exists already and is not a run: it has no config.json (did a start fail?).",
                "another folder; or remove this one, if there is nothing else in it");
  throw Error(Exit::usage, fmt::format("the run {} exists already.", quoted_path(run)),
              fmt::format("heed resume {}, another folder, or --force (renames the old one)",
                          shell_word(run.string())));
}

RunWriter RunWriter::create(const fs::path& path, bool force, SystemCalls& calls) {
  const fs::path run = with_name(path);
  std::error_code error;
  fs::create_directories(folder_of(run), error);
  if (error) throw_file_error("create the folder", folder_of(run), error.value());
  bool made = make_folder(run, calls);
  fs::path old;
  try {
    if (!made && force) {
      old = move_away(run, calls);
      sync_folder(folder_of(run), calls);
      made = make_folder(run, calls);
    }
    if (!made) require_free(run, false);
    RunWriter writer(run, RunLock(run), calls);
    writer.old_ = old;
    make_folder(writer.checkpoints(), calls);
    // Does the file system have links? Better found out now than at the first checkpoint.
    const fs::path probe = writer.checkpoints() / ".tmp-link";
    replace_symlink(probe, "none", calls);
    remove_tree(probe, calls);
    writer.metrics_ = std::make_unique<AppendFile>(run / kMetrics, calls);
    writer.film_ = std::make_unique<AppendFile>(run / kFilm, calls);
    sync_folder(run, calls);
    sync_folder(folder_of(run), calls);
    return writer;
  } catch (...) {
    if (made) remove_new(run);
    move_back(old, run, calls);
    throw;
  }
}

RunWriter RunWriter::open(const fs::path& path, SystemCalls& calls) {
  const fs::path run = with_name(path);
  list_steps(run);  // says what is wrong if this is no run
  RunWriter writer(run, RunLock(run), calls);
  clean_up(run, calls);
  clean_up(writer.checkpoints(), calls);
  writer.metrics_ = std::make_unique<AppendFile>(run / kMetrics, calls);
  return writer;
}

void RunWriter::write_config(std::string_view json) {
  replace_file(run_ / "config.json", json, *calls_);
}

void RunWriter::describe(std::string_view origin, std::string_view config, const fs::path& text) {
  try {
    if (!text.empty()) {
      InputFile input(text);
      OutputFile file(run_ / "text.txt", *calls_);
      for (std::string block; input.append_to(block, 1 << 20); block.clear()) file.write(block);
      file.finish();
    }
    replace_file(run_ / "origin.json", origin, *calls_);
    write_config(config);
  } catch (...) {
    remove_new(run_);
    move_back(old_, run_, *calls_);
    throw;
  }
}

void RunWriter::save(const CheckpointContents& contents, int keep_last) {
  metrics_->sync();
  if (film_) film_->sync();
  write_checkpoint(checkpoints(), step_folder_name(contents.state.step), contents, *calls_);
  finish_save(contents.state, keep_last);
}

void RunWriter::save_as(const std::string& name, const CheckpointContents& contents) {
  write_checkpoint(checkpoints(), name, contents, *calls_);
}

void RunWriter::finish_save(const State& state, int keep_last) {
  set_links(state);
  prune(state.step, keep_last);
}

void RunWriter::set_links(const State& state) {
  const auto point = [&](const char* link, std::int64_t step) {
    const std::string target = step_folder_name(step);
    std::error_code error;
    if (!fs::is_directory(checkpoints() / target, error)) return;
    if (fs::read_symlink(checkpoints() / link, error) == target) return;
    replace_symlink(checkpoints() / link, target, *calls_);
  };
  point("last", state.step);
  if (state.best_step >= 0) point("best", state.best_step);
}

void RunWriter::prune(std::int64_t step, int keep_last) {
  if (keep_last <= 0) return;
  std::vector<std::int64_t> steps = list_steps(run_);
  // Step 0 keeps the weights that a run began with. Later steps are damaged ones that resuming
  // passed over; they are replaced when training gets there.
  std::erase_if(steps, [&](std::int64_t other) { return other == 0 || other > step; });
  steps.resize(steps.size() - std::min(steps.size(), static_cast<std::size_t>(keep_last)));
  std::error_code error;
  const fs::path best = fs::read_symlink(checkpoints() / "best", error);
  const fs::path last = fs::read_symlink(checkpoints() / "last", error);
  for (const std::int64_t old : steps) {
    const std::string name = step_folder_name(old);
    if (name == best || name == last) continue;
    // Renamed first, so that a kill leaves no half-removed checkpoint under its name.
    const fs::path removed = checkpoints() / (std::string(kRemoving) + name);
    remove_tree(removed, *calls_);
    rename_path(checkpoints() / name, removed, *calls_);
    sync_folder(checkpoints(), *calls_);
    remove_tree(removed, *calls_);
  }
}

MetricsCut RunWriter::copy_metrics(const fs::path& from, std::int64_t step) {
  if (has_film(from)) {
    copy_lines(from, run_, kFilm, step, *calls_);
    film_ = std::make_unique<AppendFile>(run_ / kFilm, *calls_);
  } else if (film_) {  // create() made one
    film_.reset();
    remove_tree(run_ / kFilm, *calls_);
  }
  const MetricsCut metrics = copy_lines(from, run_, kMetrics, step, *calls_);
  metrics_ = std::make_unique<AppendFile>(run_ / kMetrics, *calls_);
  return metrics;
}

void RunWriter::append_metrics(std::string_view json_line) {
  metrics_->append_line(json_line);
}

void RunWriter::append_film(std::string_view json_line) {
  film_->append_line(json_line);
}

}  // namespace heed
