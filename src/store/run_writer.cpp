#include "store/run_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/folders.h"
#include "base/format.h"
#include "base/input_file.h"
#include "store/best.h"
#include "store/layout.h"
#include "store/run_folder.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kRemoving = ".tmp-removed-";

// "runs/x/" -> "runs/x" and "." -> "/home/me/runs/x", so that it can be renamed.
fs::path with_name(const fs::path& path) {
  const fs::path run = path.has_filename() ? path : path.parent_path();
  if (run.filename() != "." && run.filename() != "..") return run;
  const fs::path whole = fs::absolute(run).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

// NAME.old-K, K the first free number.
fs::path free_name(const fs::path& run) {
  for (int k = 1;; ++k)
    if (const fs::path name = fmt::format("{}.old-{}", run.string(), k); !path_exists(name))
      return name;
}

// Could a start that was killed have left this folder? Whatever else is in it belongs to somebody,
// and a link leads to somebody's folder. `own`: under heed's temporary name; else nothing that a
// user could miss may be in it.
bool is_leftover(const fs::path& folder, bool own) {
  const auto left_behind = [&](const std::string& name) {
    if (name == kCheckpoints || name.starts_with(".tmp-") || name == kLockFile) return true;
    if (own) return std::ranges::count(kRunFiles, name) > 0;
    std::error_code error;
    // (train.log may tell of a resume that failed.)
    return name == kOriginFile || name == kTrainLog ||
           (std::ranges::count(kRunFiles, name) > 0 && fs::file_size(folder / name, error) == 0 &&
            !error);
  };
  const fs::path checkpoints = folder / kCheckpoints;
  std::error_code none;
  if (fs::symlink_status(folder, none).type() == fs::file_type::directory) {
    const std::vector<std::string> names = names_in(folder);
    const bool started = names.empty() ? own : std::ranges::count(names, kLockFile) > 0;
    return started && std::ranges::all_of(names, left_behind) &&
           (!path_exists(checkpoints) ||
            std::ranges::all_of(names_in(checkpoints),
                                [](const std::string& name) { return name.starts_with(".tmp-"); }));
  }
  return false;
}

void require_leftover(const fs::path& folder) {
  if (is_leftover(folder, true)) return;
  throw Error(Exit::usage,
              fmt::format("{} is in the way: a new run is made there, and it is not what a "
                          "killed start leaves.",
                          quoted_path(folder)),
              "move it away, or another run folder");
}

void empty_but_for_lock(const fs::path& folder, SystemCalls& calls) {
  for (const std::string& name : names_in(folder))
    if (name != kLockFile) remove_tree(folder / name, calls);
}

// The lock goes last: what is left when this fails or is killed is still known as a leftover.
void remove_leftover(const fs::path& folder, SystemCalls& calls) {
  empty_but_for_lock(folder, calls);
  remove_tree(folder, calls);
}

}  // namespace

RunWriter::RunWriter(fs::path run, RunLock lock, SystemCalls& calls)
    : run_(std::move(run)), lock_(std::move(lock)), calls_(&calls) {}

void RunWriter::require_free(const fs::path& run, bool force) {
  if (!path_exists(run)) return;
  if (!is_run(run) && is_leftover(run, false)) return;
  if (!is_run(run))
    throw Error(force ? Exit::store : Exit::usage,
                fmt::format("{} exists already and is not a run of heed (a folder with "
                            "checkpoints/ and config.json).",
                            quoted_path(run)),
                "another folder");
  if (force) return;
  throw Error(
      Exit::usage, fmt::format("the run {} exists already.", quoted_path(run)),
      fmt::format(
          "heed resume {}; another folder, --run NAME; or --force, which renames the old one",
          shell_word(run.string())));
}

RunWriter RunWriter::create(const fs::path& path, bool force, const FirstFiles& first,
                            SystemCalls& calls) {
  const fs::path run = with_name(path), parent = folder_of(run);
  require_free(run, force);
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) throw_file_error("create the folder", parent, error.value());
  const fs::path temporary = parent / (".tmp-" + run.filename().string());
  const bool made = make_folder(temporary, calls);  // else by a start that was killed or still runs
  std::optional<RunLock> lock;
  try {
    if (!made) require_leftover(temporary);
    lock.emplace(temporary);
  } catch (const Error& e) {
    if (made && e.exit() != Exit::usage) calls.remove_all(temporary.c_str());  // not in use
    require_free(run, force);  // perhaps it failed because another start put its run there
    throw;
  }
  RunWriter writer(run, std::move(*lock), calls);  // locks the folder until a failure removed it
  try {
    require_free(run, force);    // again, now that no other start can put its run there
    std::optional<RunLock> old;  // no process may be writing it
    if (path_exists(run)) old.emplace(run);
    const bool taken_over = old && !is_run(run);
    empty_but_for_lock(temporary, calls);
    const fs::path checkpoints = temporary / kCheckpoints;
    make_folder(checkpoints, calls);
    // Tests now, not at the first checkpoint, whether the file system has links.
    replace_symlink(checkpoints / ".tmp-link", "none", calls);
    remove_tree(checkpoints / ".tmp-link", calls);
    if (!first.text.empty()) {
      InputFile input(first.text);
      OutputFile text(temporary / kRunText, calls);
      for (std::string block; input.append_to(block, 1 << 20); block.clear()) text.write(block);
      text.finish();
    }
    replace_file(temporary / kOriginFile, first.origin, calls);
    replace_file(temporary / kConfigFile, first.config, calls);
    for (const char* file : kLineFiles) writer.lines_.try_emplace(file, temporary / file, calls);
    sync_folder(temporary, calls);
    if (taken_over) {
      remove_leftover(run, calls);
      writer.notes_.push_back(fmt::format(
          "{} was left by a start that was killed: it is taken over", quoted_path(run)));
    }
    put_in_place(temporary, run, old && !taken_over ? free_name(run) : "", calls);
    for (auto& [file, lines] : writer.lines_) lines.renamed(run / file);
    return writer;
  } catch (...) {
    try {
      remove_leftover(temporary, calls);
    } catch (const Error&) {  // the next start takes it over
    }
    throw;
  }
}

RunWriter RunWriter::open(const fs::path& path, SystemCalls& calls) {
  const fs::path run = with_name(path);
  list_steps(run);  // throws if this is not a run
  RunWriter writer(run, RunLock(run), calls);
  clean_up(run, calls);
  clean_up(writer.checkpoints(), calls);
  writer.free_links();
  for (const State& state : states_of(run)) writer.states_[state.step] = state;
  writer.kept_ = kept_states(run);
  writer.lines_.try_emplace(kMetrics, run / kMetrics, calls);
  return writer;
}

void RunWriter::write_config(std::string_view json) {
  replace_file(run_ / kConfigFile, json, *calls_);
}

// Copying a run may have made folders or texts of its links.
void RunWriter::free_links() {
  for (const char* link : {"best", "last"}) {
    const fs::path path = checkpoints() / link;
    std::error_code none;
    if (!path_exists(path) || fs::is_symlink(fs::symlink_status(path, none))) continue;
    const fs::path aside = free_name(path);
    rename_path(path, aside, *calls_);
    notes_.push_back(
        fmt::format("{} was not a link: it is {} now", quoted_path(path), quoted_path(aside)));
  }
}

bool RunWriter::follow_folder() {
  if (lock_.lost(run_))
    throw Error(Exit::store, fmt::format("the run folder {} was removed while the run trained.",
                                         quoted_path(run_)));
  const fs::path now = lock_.folder();
  std::error_code none;
  if (now.empty() || fs::equivalent(now, run_, none)) return false;
  notes_.push_back(fmt::format("the run folder is {} now", quoted_path(now)));
  run_ = now;
  for (auto& [file, lines] : lines_) lines.renamed(run_ / file);
  return true;
}

void RunWriter::keep_lines() {
  std::erase_if(lines_, [&](const auto& entry) {
    if (entry.second.in_place()) return false;
    notes_.push_back(
        fmt::format("{} was moved or removed: {}", entry.first,
                    entry.first == kFilm ? "it gets no more frames" : "a new one begins here"));
    return true;
  });
}

void RunWriter::save(const CheckpointContents& contents, int keep_last) {
  follow_folder();
  keep_lines();
  try {
    for (auto& [file, lines] : lines_) lines.sync();
    write_checkpoint(checkpoints(), step_folder_name(contents.state.step), contents, *calls_);
    states_[contents.state.step] = contents.state;
    finish_save(contents.state.step, keep_last);
  } catch (const Error&) {
    if (!follow_folder()) throw;
    save(contents, keep_last);  // it was renamed in between
  }
}

void RunWriter::save_as(const std::string& name, const CheckpointContents& contents) {
  write_checkpoint(checkpoints(), name, contents, *calls_);
}

void RunWriter::finish_save(std::int64_t step, int keep_last) {
  states_.erase(states_.upper_bound(step), states_.end());
  set_links(step);
  prune(step, keep_last);
}

std::optional<BestCheckpoint> RunWriter::best() const {
  std::vector<BestCheckpoint> all;
  for (const auto& [step, state] : states_) all.push_back({state, step_folder_name(step)});
  for (const auto& [name, state] : kept_) all.push_back({state, name});
  return best_of(all);
}

void RunWriter::go_back(std::int64_t step) {
  const auto best = this->best();
  for (auto later = states_.end(); later != states_.upper_bound(step);) {
    --later;
    const std::string name = step_folder_name(later->first);
    if (best && name == best->folder) {
      const std::string kept = std::string(kKeptPrefix) + name.substr(kStepPrefix.size());
      remove_tree(checkpoints() / kept, *calls_);
      rename_path(checkpoints() / name, checkpoints() / kept, *calls_);
      kept_[kept] = later->second;
    } else {
      remove_checkpoint(name);
    }
    later = states_.erase(later);
  }
  sync_folder(checkpoints(), *calls_);
}

void RunWriter::set_links(std::int64_t step) {
  const auto point = [&](const char* link, const std::string& target) {
    std::error_code error;
    if (!fs::is_directory(checkpoints() / target, error)) return;
    if (fs::read_symlink(checkpoints() / link, error) == target) return;
    replace_symlink(checkpoints() / link, target, *calls_);
  };
  point("last", step_folder_name(step));
  if (const auto state = best()) point("best", state->folder);
}

void RunWriter::prune(std::int64_t step, int keep_last) {
  std::erase_if(kept_, [&, best = best()](const auto& entry) {
    const bool worse = entry.first != best->folder;
    if (worse) remove_checkpoint(entry.first);
    return worse;
  });
  if (keep_last <= 0) return;
  std::vector<std::int64_t> steps = list_steps(run_);
  // Step 0 keeps the weights that a run began with. Later steps are damaged ones that resuming
  // skipped; they are replaced when training gets there.
  // What could not be read may be whole.
  std::erase_if(steps, [&](std::int64_t other) {
    return other == 0 || other == keeps_ || other > step ||
           !(states_.contains(other) || state_of(run_, other));
  });
  steps.resize(steps.size() - std::min(steps.size(), static_cast<std::size_t>(keep_last)));
  std::error_code error;
  const fs::path best = fs::read_symlink(checkpoints() / "best", error);
  const fs::path last = fs::read_symlink(checkpoints() / "last", error);
  for (const std::int64_t old : steps) {
    const std::string name = step_folder_name(old);
    if (name == best || name == last) continue;
    states_.erase(old);
    remove_checkpoint(name);
  }
}

// Renamed first, so that a kill leaves no half-removed checkpoint under its name.
void RunWriter::remove_checkpoint(const std::string& name) {
  const fs::path removed = checkpoints() / (std::string(kRemoving) + name);
  remove_tree(removed, *calls_);
  const fs::path folder = checkpoints() / name;
  if (repeat_if_interrupted([&] { return calls_->rename(folder.c_str(), removed.c_str()); }) != 0) {
    if (errno != EXDEV) throw_file_error("rename", folder, errno);
    // In a lower layer of an overlay. Without its state it is no checkpoint.
    remove_tree(folder / kStateFile, *calls_);
    remove_tree(folder, *calls_);
    return;
  }
  sync_folder(checkpoints(), *calls_);
  remove_tree(removed, *calls_);
}

MetricsCut RunWriter::copy_lines(const fs::path& from, std::int64_t step) {
  MetricsCut metrics;
  for (const char* file : kLineFiles) {
    const bool of_create = lines_.erase(file) > 0;
    if (file == kMetrics || has_lines(from, file)) {
      const MetricsCut cut = heed::copy_lines(
          from, run_, file, [&](std::int64_t at) { return at <= step; }, *calls_);
      if (file == kMetrics) metrics = cut;
      lines_.try_emplace(file, run_ / file, *calls_);
    } else if (of_create) {
      remove_tree(run_ / file, *calls_);
    }
  }
  return metrics;
}

void RunWriter::change_frames(const std::set<std::int64_t>& without, const std::string& added) {
  if (!lines_.contains(kFilm) || !lines_.at(kFilm).in_place()) return;
  try {
    heed::copy_lines(
        run_, run_, kFilm, [&](std::int64_t at) { return !without.contains(at); }, *calls_, added);
    lines_.erase(kFilm);
    lines_.try_emplace(kFilm, run_ / kFilm, *calls_);
  } catch (const Error& e) {
    notes_.push_back(fmt::format("the film stays as it is: {}", e.what()));
  }
}

void RunWriter::append(const char* file, std::string_view json_line) {
  if (file == kFilm && !lines_.contains(file)) return;  // a film begins with its probe
  try {
    // Opened again if it was moved or removed.
    lines_.try_emplace(file, run_ / file, *calls_).first->second.append_line(json_line);
    losing_lines_.erase(file);
  } catch (const Error& e) {
    if (!losing_lines_.insert(file).second) return;
    lost_line_ = true;
    notes_.push_back(fmt::format("a line is lost: {}", e.what()));
  }
}

}  // namespace heed
