#include "store/run_writer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "base/folders.h"
#include "base/format.h"
#include "base/input_file.h"
#include "store/best.h"
#include "store/chain.h"
#include "store/layout.h"
#include "store/run_folder.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kRemoving = ".tmp-removed-";

std::string holder(int fd) {
  char text[32];
  const ssize_t n = ::pread(fd, text, sizeof text, 0);
  std::string pid(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  pid.resize(std::min(pid.size(), pid.find_first_not_of("0123456789")));
  return pid.empty() ? "another process" : "process " + pid;
}

int open_and_lock(const fs::path& run, const fs::path& path) {
  refuse_link_or_pipe(path);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) throw_file_error("lock", path, errno);
  for (int left = 5;; --left) {
    if (repeat_if_interrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0) return fd;
    if (errno != EWOULDBLOCK || left == 0) break;
    ::usleep(10'000);  // is_locked() holds it for a moment
  }
  const int error = errno;
  const std::string who = holder(fd);
  ::close(fd);
  if (error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS)
    throw Error(Exit::store,
                fmt::format("cannot lock {}: its file system has no locks ({}), without which two "
                            "processes could write one run",
                            quoted_path(path), std::generic_category().message(error)),
                "a run folder on a local disk");
  if (error != EWOULDBLOCK) throw_file_error("lock", path, error);
  throw Error(Exit::usage,
              fmt::format("{} is writing {} (lock {})", who, quoted_path(run), path.string()),
              "wait until it is done, or stop it");
}

// "runs/x/" -> "runs/x" and "." -> "/home/me/runs/x", so that it can be renamed.
fs::path with_name(const fs::path& path) {
  const fs::path run = path.has_filename() ? path : path.parent_path();
  if (run.filename() != "." && run.filename() != "..") return run;
  const fs::path whole = fs::absolute(run).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

// Could a start that was killed have left this folder? It makes the lock first and config.json
// last. Whatever else is in it belongs to somebody, and a link leads to somebody's folder.
bool is_leftover(const fs::path& folder) {
  const auto temporary = [](const std::string& name) { return name.starts_with(".tmp-"); };
  const auto left_behind = [&](const std::string& name) {
    if (name == kCheckpoints) return std::ranges::all_of(names_in(folder / name), temporary);
    std::error_code none;
    if (std::ranges::count(kLineFiles, name) > 0) return fs::file_size(folder / name, none) == 0;
    // (train.log may tell of a resume that failed.)
    return temporary(name) || name == kLockFile || name == kOriginFile || name == kRunText ||
           name == kTrainLog;
  };
  if (type_of(folder) != fs::file_type::directory) return false;
  const std::vector<std::string> names = names_in(folder);
  return (names.empty() || std::ranges::count(names, kLockFile) > 0) &&
         std::ranges::all_of(names, left_behind);
}

void empty_but_for_lock(const fs::path& folder, SystemCalls& calls) {
  for (const std::string& name : names_in(folder))
    if (name != kLockFile) remove_tree(folder / name, calls);
}

// What is left when this is killed is still known as a leftover: config.json goes first, the lock
// last.
void remove_start(const fs::path& folder, SystemCalls& calls) try {
  remove_tree(folder / kConfigFile, calls);
  empty_but_for_lock(folder, calls);
  remove_tree(folder, calls);
} catch (const Error&) {  // the next start takes it over
}

}  // namespace

bool is_locked(const fs::path& run) {
  const int fd = ::open((run / kLockFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

RunLock::RunLock(const fs::path& run) {
  const fs::path path = run / kLockFile;
  fd_ = open_and_lock(run, path);
  while (!is_same_file(fd_, path)) {
    ::close(fd_);
    fd_ = -1;
    fd_ = open_and_lock(run, path);
  }
  // For the message above; the lock holds even if this cannot be written.
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd_, 0) == 0) (void)!::pwrite(fd_, pid.data(), pid.size(), 0);
}

RunLock::~RunLock() {
  if (fd_ >= 0) ::close(fd_);
}

void RunLock::require_held(const fs::path& run) const {
  if (is_same_file(fd_, run / kLockFile)) return;
  struct stat lock = {};
  const bool gone = ::fstat(fd_, &lock) == 0 && lock.st_nlink == 0;
  throw Error(
      Exit::store,
      fmt::format("the run folder {} was moved or removed while the run trained: {} is lost",
                  quoted_path(run),
                  gone ? "all that it learnt" : "what it learnt after its last checkpoint"),
      gone ? "heed train" : "heed resume where it is now, which goes on from its last checkpoint");
}

RunLock::RunLock(RunLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

fs::path free_name(const fs::path& path) {
  const fs::path named = with_name(path);
  for (int k = 1;; ++k)
    if (const fs::path name = fmt::format("{}{}{}", named.string(), kOldRun, k); !path_exists(name))
      return name;
}

RunWriter::RunWriter(fs::path run, RunLock lock, SystemCalls& calls)
    : run_(std::move(run)), lock_(std::move(lock)), calls_(&calls) {
  require_own_checkpoints(run_);
}

void RunWriter::require_own_checkpoints(const fs::path& run) {
  const fs::path checkpoints = run / kCheckpoints;
  if (type_of(checkpoints) == fs::file_type::symlink)
    throw Error(Exit::store,
                fmt::format("{} is a link, expected a folder", quoted_path(checkpoints)),
                "put the folder that it leads to in its place, unless it is that of another run");
}

void RunWriter::require_free(const fs::path& run, bool force) {
  if (!path_exists(run) || is_leftover(run)) return;
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
  fs::path old;
  if (force && is_run(run)) {
    const RunLock lock(run);  // no process may be writing it
    require_own_checkpoints(run);
    rename_path(run, old = free_name(run), calls);
  }
  try {
    return begin(run, first, calls);
  } catch (...) {
    if (!old.empty()) calls.rename(old.c_str(), run.c_str());
    throw;
  }
}

RunWriter RunWriter::begin(const fs::path& run, const FirstFiles& first, SystemCalls& calls) {
  const bool made = make_folder(run, calls);  // else by a start that was killed or still runs
  std::optional<RunLock> lock;
  try {
    lock.emplace(run);
  } catch (const Error& e) {
    if (made && e.exit() != Exit::usage) calls.remove_all(run.c_str());  // not in use
    throw;
  }
  RunWriter writer(run, std::move(*lock), calls);
  require_free(run, false);  // again, now that no other start can put its run there
  try {
    if (names_in(run).size() > 1)
      writer.notes_.push_back(fmt::format(
          "{} was left by a start that was killed: it is taken over", quoted_path(run)));
    empty_but_for_lock(run, calls);
    sync_folder(run, calls);
    if (!first.text.empty()) copy_file(first.text, run / kRunText, calls);
    for (const char* file : kLineFiles) AppendFile(run / file, calls);
    replace_file(run / kOriginFile, first.origin, calls);
    make_folder(writer.checkpoints(), calls);
    // Tests now, not at the first checkpoint, whether the file system has links.
    replace_symlink(writer.checkpoints() / ".tmp-link", "none", calls);
    remove_tree(writer.checkpoints() / ".tmp-link", calls);
    sync_folder(folder_of(run), calls);
    replace_file(run / kConfigFile, first.config, calls);
    return writer;
  } catch (...) {
    remove_start(run, calls);
    throw;
  }
}

RunWriter RunWriter::open(const fs::path& path, SystemCalls& calls) {
  const fs::path run = with_name(path);
  list_steps(run);  // throws if this is not a run
  RunWriter writer(run, RunLock(run), calls);
  clean_up(run, calls);
  clean_up(writer.checkpoints(), calls);
  // Of a killed set_aside(). (The folder above may be one that this user cannot list or write.)
  calls.remove_all((folder_of(run) / (".tmp-" + free_name(run).filename().string())).c_str());
  writer.free_links();
  for (const State& state : states_of(run)) writer.states_[state.step] = state;
  writer.other_best_ = other_best(run);
  return writer;
}

void RunWriter::write_config(std::string_view json) {
  replace_file(run_ / kConfigFile, json, *calls_);
}

// Copying a run may have made folders or texts of its links.
void RunWriter::free_links() {
  for (const char* link : {"best", "last"}) {
    const fs::path path = checkpoints() / link;
    if (!path_exists(path) || type_of(path) == fs::file_type::symlink) continue;
    const fs::path aside = free_name(path);
    rename_path(path, aside, *calls_);
    notes_.push_back(
        fmt::format("{} was not a link: it is {} now", quoted_path(path), quoted_path(aside)));
  }
}

void RunWriter::save(const CheckpointContents& contents, Keep keep, std::int64_t spared) try {
  lock_.require_held(run_);
  require_own_checkpoints(run_);
  for (const char* file : kLineFiles)
    if (type_of(run_ / file) == fs::file_type::regular) AppendFile(run_ / file, *calls_).sync();
  if (make_folder(checkpoints(), *calls_)) {
    sync_folder(run_, *calls_);
    states_.clear();
    other_best_.reset();
    notes_.push_back(
        fmt::format("{} was moved or removed, with the checkpoints in it: it is made "
                    "again",
                    quoted_path(checkpoints())));
  }
  const std::string name = step_folder_name(contents.state.step);
  // A damaged one, which resuming skipped; in a lower layer of an overlay it cannot be renamed.
  const fs::path old = checkpoints() / name;
  if (path_exists(old) && !path_exists(old / kStateFile)) remove_checkpoint(name);
  write_checkpoint(checkpoints(), name, contents, *calls_);
  states_[contents.state.step] = contents.state;
  finish_save(contents.state.step, keep, spared);
} catch (const Error&) {
  lock_.require_held(run_);  // else this is the reason
  if (path_exists(checkpoints())) throw;
  save(contents, keep, spared);  // it went meanwhile
}

void RunWriter::save_as(const std::string& name, const CheckpointContents& contents) {
  write_checkpoint(checkpoints(), name, contents, *calls_);
}

void RunWriter::finish_save(std::int64_t step, Keep keep, std::int64_t spared) {
  states_.erase(states_.upper_bound(step), states_.end());
  try {
    if (const auto line = next_chain_line(run_, step, stem_); !line.empty()) {
      AppendFile chain(run_ / kChain, *calls_);
      chain.append_line(line);
      chain.sync();
    }
  } catch (const Error& e) {  // the checkpoint is whole all the same
    if (losing_lines_.insert(kChain).second)
      notes_.push_back(fmt::format("the chain lacks lines: {}", e.what()));
  }
  set_links(step);
  prune(step, keep, spared);
}

std::optional<BestCheckpoint> RunWriter::best() const {
  std::vector<BestCheckpoint> all;
  for (const auto& [step, state] : states_) all.push_back({state, step_folder_name(step)});
  if (other_best_) all.push_back(*other_best_);
  return best_of(all);
}

void RunWriter::drop_after(std::int64_t step) {
  states_.erase(states_.upper_bound(step), states_.end());
  set_links(step);  // first: they never lead to what is gone
  std::vector<std::int64_t> steps = list_steps(run_);
  for (; !steps.empty() && steps.back() > step; steps.pop_back())
    remove_checkpoint(step_folder_name(steps.back()));
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

void RunWriter::prune(std::int64_t step, Keep keep, std::int64_t spared) {
  if (other_best_ && best()->folder != other_best_->folder) {
    remove_checkpoint(other_best_->folder);
    other_best_.reset();
  }
  if (keep.last <= 0) return;
  std::vector<std::int64_t> steps = list_steps(run_);
  // Step 0 keeps the weights that a run began with. Later steps are damaged ones that resuming
  // skipped; they are replaced when training gets there.
  // What could not be read may be whole.
  std::erase_if(steps, [&](std::int64_t other) {
    return other == 0 || other == spared || other > step ||
           !(states_.contains(other) || state_of(run_, other));
  });
  steps.resize(steps.size() - std::min(steps.size(), static_cast<std::size_t>(keep.last)));
  std::error_code error;
  const fs::path best = fs::read_symlink(checkpoints() / "best", error);
  const fs::path last = fs::read_symlink(checkpoints() / "last", error);
  for (const std::int64_t old : steps) {
    const std::string name = step_folder_name(old);
    if (name == best || name == last || (keep.every > 0 && old % keep.every == 0)) continue;
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
  if (from != run_) stem_ = chain_hash(from, step);
  for (const char* file : kLineFiles) {
    const bool of_metrics = file == std::string_view(kMetrics);
    if (of_metrics || can_be_film(from)) {
      const MetricsCut cut = heed::copy_lines(
          from, run_, file, [&](std::int64_t at) { return at <= step; }, *calls_);
      if (of_metrics) metrics = cut;
    } else if (from != run_) {
      remove_tree(run_ / file, *calls_);
    }
  }
  return metrics;
}

void RunWriter::change_frames(const std::set<std::int64_t>& without, const std::string& added) {
  if (!can_be_film(run_)) return;
  try {
    heed::copy_lines(
        run_, run_, kFilm, [&](std::int64_t at) { return !without.contains(at); }, *calls_, added);
  } catch (const Error& e) {
    notes_.push_back(fmt::format("the film stays as it is: {}", e.what()));
  }
}

void RunWriter::append(const char* file, std::string_view json_line) {
  try {
    lock_.require_held(run_);
    if (std::string_view(file) == kFilm && !can_be_film(run_))  // it begins with its probe
      throw Error(Exit::store, fmt::format("{} was moved or removed, and gets no more frames",
                                           quoted_path(run_ / kFilm)));
    AppendFile(run_ / file, *calls_).append_line(json_line);
    losing_lines_.erase(file);
  } catch (const Error& e) {
    if (!losing_lines_.insert(file).second) return;
    lost_line_ = true;
    notes_.push_back(fmt::format("a line is lost: {}", e.what()));
  }
}

}  // namespace heed
