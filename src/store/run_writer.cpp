#include "store/run_writer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/number.h"
#include "base/std_names.h"
#include "store/run.h"
#include "store/run_folder.h"

namespace heed {
namespace {

constexpr string_view kRemoving = ".tmp-removed-";

// Whoever holds a lock has written his process id into its file; 0: nobody has yet.
int64_t holder(const fs::path& lock) {
  int64_t id = 0;
  ifstream(lock) >> id;
  return id;
}

[[noreturn]] void refuse_lock(const fs::path& run, const fs::path& path, int error) {
  if (error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS)
    throw store_error("cannot lock {}: its file system has no locks", quoted_path(path))
        .hint("a run folder on a local disk");
  if (error != EWOULDBLOCK) throw_file_error("lock", path, error);
  const int64_t id = holder(path);
  throw usage_error("{} is writing {} (lock {})",
                    id > 0 ? fmt::format("process {}", id) : "another process", quoted_path(run),
                    path.string())
      .hint("wait until it is done, or stop it");
}

// The name of the run that this one is a branch of; "" if it is none.
string stem_name(const fs::path& run) try {
  return fs::path(read_origin(run).branched_from).filename();
} catch (const Error&) {
  return "";
}

// Removes what starts of this run left that were killed.
void remove_killed_starts(const fs::path& run) {
  const string begin = ".tmp-" + run.filename().string() + "-";
  for (const string& name : readable_names(folder_of(run))) {
    const fs::path folder = folder_of(run) / name;
    if (name.starts_with(begin) && holder(folder / kLockFile) > 0 && !is_locked(folder))
      system_calls().remove_all(folder.c_str());
  }
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
  refuse_link_or_pipe(path);
  // is_locked() holds it for a moment, and another start may put a folder in this one's place.
  for (int left = 5;; --left) {
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd_ < 0) throw_file_error("lock", path, errno);
    const int error = ::flock(fd_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (error == 0 && is_same_file(fd_, path)) break;
    ::close(fd_);
    if (error != 0 && (error != EWOULDBLOCK || left <= 0)) refuse_lock(run, path, error);
    ::usleep(10'000);
  }
  // For the message above; the lock holds even if this cannot be written.
  const string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd_, 0) == 0) (void)!::pwrite(fd_, pid.data(), pid.size(), 0);
}

RunLock::~RunLock() {
  if (fd_ >= 0) ::close(fd_);
}

void RunLock::require_held(const fs::path& run) const {
  if (!is_same_file(fd_, run / kLockFile))
    throw store_error(
        "the run folder {} was moved or removed while the run trained: what it "
        "learnt after its last checkpoint is lost",
        quoted_path(run))
        .hint("heed resume where it is now, which goes on from that checkpoint");
}

RunLock::RunLock(RunLock&& other) noexcept : fd_(exchange(other.fd_, -1)) {}

fs::path with_name(const fs::path& path) {
  const fs::path run = path.has_filename() ? path : path.parent_path();
  return run.filename() == "." || run.filename() == ".." ? written_out(run) : run;
}

fs::path free_name(const fs::path& path) {
  const fs::path named = with_name(path);
  for (int k = 1;; ++k)
    if (const fs::path name = fmt::format("{}{}{}", named.string(), kOldRun, k); !path_exists(name))
      return name;
}

bool is_branch_of(const fs::path& other, const fs::path& run) try {
  const Origin origin = read_origin(other);
  const fs::path stem = fs::path(origin.branched_from).filename();
  return (stem == with_name(run).filename() || stem == fs::canonical(run).filename()) &&
         stem_hash(other) != "" && stem_hash(other) == chain_hash(run, origin.branched_at);
} catch (const Error&) {
  return false;
}

fs::path next_name(const fs::path& run) {
  string name = with_name(run);
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  int64_t k = 2;
  if (0 < digits && digits < name.size() && name[digits - 1] == '-') {
    const string before = name.substr(0, digits - 1), own = fs::path(before).filename(),
                 stem = stem_name(run);
    if (stem == own || stem.starts_with(own + "-")) {
      k = 1 + read_number<int64_t>(name.substr(digits)).value_or(1);
      name = before;
    }
  }
  for (;; ++k)
    if (const fs::path next = fmt::format("{}-{}", name, k); !path_exists(next)) return next;
}

RunWriter::RunWriter(fs::path run, RunLock lock) : run_(std::move(run)), lock_(std::move(lock)) {
  require_own_checkpoints(run_);
}

void RunWriter::require_own_checkpoints(const fs::path& run) {
  if (const auto checkpoints = run / kCheckpoints; type_of(checkpoints) == fs::file_type::symlink)
    throw store_error("{} is a link, expected a folder", quoted_path(checkpoints))
        .hint("put the folder that it leads to in its place, unless it is that of another run");
}

void RunWriter::require_free(const fs::path& run, bool force) {
  if (!path_exists(run) || (type_of(run) == fs::file_type::directory && names_in(run).empty()))
    return;
  if (!is_run(run))
    throw Error(force ? Exit::store : Exit::usage,
                fmt::format("{} exists already and is not a run of heed (a folder with "
                            "checkpoints/ and config.json).",
                            quoted_path(run)),
                "another folder");
  if (force) return;
  throw usage_error("the run {} exists already.", quoted_path(run))
      .hint(fmt::format(
          "heed resume {}; another folder, --run NAME; or --force, which renames the old one",
          shell_word(run)));
}

RunWriter RunWriter::create(const fs::path& path, bool force, const FirstFiles& first) try {
  const fs::path run = with_name(path), parent = folder_of(run);
  require_free(run, force);
  error_code error;
  fs::create_directories(parent, error);
  if (error) throw_file_error("create the folder", parent, error.value());
  remove_killed_starts(run);
  auto folder = make_unique<NewFolder>(run, force && is_run(run) ? free_name(run) : fs::path());
  RunWriter writer(folder->path(), RunLock(folder->path()));
  writer.new_ = std::move(folder);
  const fs::path& here = writer.run_;
  if (!first.text.empty()) heed::copy_file(first.text, here / kRunText);
  for (const char* file : kLineFiles) AppendFile(here / file);
  replace_file(here / kOriginFile, first.origin);
  make_folder(writer.checkpoints());
  // Tests now, not at the first checkpoint, whether the file system has links.
  replace_symlink(writer.checkpoints() / ".tmp-link", "none");
  remove_tree(writer.checkpoints() / ".tmp-link");
  replace_file(here / kConfigFile, first.config);
  return writer;
} catch (const Error&) {
  require_free(path, force);  // another start was faster
  throw;
}

void RunWriter::put_in_place() {
  if (!new_) return;
  const fs::path run = new_->place();
  const bool replaces = !new_->aside().empty();
  try {
    optional<RunLock> old;
    if (replaces) old.emplace(run);
    if (replaces) require_own_checkpoints(run);
    new_->put_in_place();
  } catch (const Error&) {
    if (!replaces) require_free(run, false);  // another start was faster
    throw;
  }
  run_ = run;
  new_.reset();
}

RunWriter::~RunWriter() {
  try {
    if (!superseded_.empty()) lock_.require_held(run_);
    for (const int64_t step : superseded_) remove_checkpoint(step);
  } catch (const Error&) {  // the next process that saves does it
  }
}

RunWriter RunWriter::open(const fs::path& path) {
  const fs::path run = with_name(path);
  list_steps(run);  // throws if this is not a run
  RunWriter writer(run, RunLock(run));
  for (const string& name : names_in(run))  // heed makes no such folders here
    if (name.starts_with(".tmp-") && type_of(run / name) != fs::file_type::directory)
      remove_tree(run / name);
  clean_up(writer.checkpoints());
  writer.states_ = states_of(run);
  return writer;
}

void RunWriter::begin_writing(const vector<DamagedCheckpoint>& damaged) {
  // Copying a run may have made folders or texts of its links.
  for (const char* link : {"best", "last"}) {
    const fs::path path = checkpoints() / link;
    if (path_exists(path) && type_of(path) != fs::file_type::symlink)
      rename_aside(path, free_name(path), "not a link");
  }
  for (const DamagedCheckpoint& d : damaged) {
    const fs::path named = checkpoints() / ("damaged-" + d.folder.filename().string());
    rename_aside(d.folder, path_exists(named) ? free_name(named) : named, "damaged");
  }
}

void RunWriter::rename_aside(const fs::path& path, const fs::path& named, const char* why) {
  rename_path(path, named);
  sync_folder(checkpoints());
  notes_.push_back(
      fmt::format("{} was {}: it is {} now", quoted_path(path), why, quoted_path(named)));
}

void RunWriter::save(const CheckpointContents& contents, Keep keep) try {
  lock_.require_held(run_);
  require_own_checkpoints(run_);
  for (const char* file : kLineFiles)
    if (type_of(run_ / file) == fs::file_type::regular) AppendFile(run_ / file).sync();
  if (make_folder(checkpoints())) {
    sync_folder(run_);
    states_.clear();
    superseded_.clear();
    notes_.push_back(
        fmt::format("{} was moved or removed, with the checkpoints in it: it is made again",
                    quoted_path(checkpoints())));
  }
  const int64_t step = contents.state.step;
  write_checkpoint(checkpoints(), step_folder_name(step), contents);
  erase_if(states_, [&](const State& state) { return state.step >= step; });
  states_.push_back(contents.state);
  finish_save(step, keep);
} catch (const Error&) {
  lock_.require_held(run_);  // else this is the reason
  throw;
}

void RunWriter::finish_save(int64_t step, Keep keep) {
  erase_if(states_, [&](const State& state) { return state.step > step; });
  try {
    extend_chain(run_, step, stem_);
  } catch (const Error& e) {  // the checkpoint is whole all the same
    if (losing_lines_.insert(kChain).second)
      notes_.push_back(fmt::format("the chain lacks lines: {}", e.what()));
  }
  const auto point = [&](const char* link, int64_t to) {
    const string target = step_folder_name(to);
    if (type_of(checkpoints() / target) == fs::file_type::directory &&
        fs::read_symlink(checkpoints() / link, ignored()) != target)
      replace_symlink(checkpoints() / link, target);
  };
  point("last", step);
  if (const auto state = best()) point("best", state->step);
  for (const int64_t old : exchange(superseded_, {})) remove_checkpoint(old);

  if (keep.last <= 0) return;
  vector<int64_t> steps = list_steps(run_);
  // Step 0 keeps the weights that a run began with. Damaged ones stay.
  erase_if(steps, [&](int64_t old) {
    return old == 0 || old == keep.spared || ranges::count(states_, old, &State::step) == 0;
  });
  steps.resize(steps.size() - min<size_t>(steps.size(), keep.last));
  const int64_t best = this->best()->step;
  erase_if(steps, [&](int64_t old) {
    return old == best || old == step || (keep.every > 0 && old % keep.every == 0);
  });
  erase_if(states_, [&](const State& s) { return ranges::count(steps, s.step) > 0; });
  superseded_ = steps;
}

// Renamed first, so that a kill leaves no half-removed checkpoint under its name.
void RunWriter::remove_checkpoint(int64_t step) {
  const string name = step_folder_name(step);
  const fs::path removed = checkpoints() / (string(kRemoving) + name);
  remove_tree(removed);
  const fs::path folder = checkpoints() / name;
  if (repeat_if_interrupted(&SystemCalls::rename, folder.c_str(), removed.c_str()) != 0) {
    if (errno != EXDEV) throw_file_error("rename", folder, errno);
    // In a lower layer of an overlay. Without its state it is no checkpoint.
    remove_tree(folder / kStateFile);
    remove_tree(folder);
    return;
  }
  sync_folder(checkpoints());
  remove_tree(removed);
}

void RunWriter::copy_lines(const fs::path& from, int64_t step, bool ends) {
  if (from != run_) stem_ = chain_hash(from, step);
  if (can_be_film(from))
    heed::copy_lines(from, run_, kFilm, step, ends);
  else if (from != run_)
    remove_tree(run_ / kFilm);
  heed::copy_lines(from, run_, kMetrics, step, ends);
}

bool RunWriter::append(const char* file, string_view json_line) {
  try {
    lock_.require_held(run_);
    if (string_view(file) == kFilm && !can_be_film(run_))  // it begins with its probe
      throw store_error("{} was moved or removed, and gets no more frames",
                        quoted_path(run_ / kFilm));
    AppendFile(run_ / file).append_line(json_line);
    losing_lines_.erase(file);
    return true;
  } catch (const Error& e) {
    if (losing_lines_.insert(file).second)
      notes_.push_back(fmt::format("a line is lost: {}", e.what()));
    return false;
  }
}

}  // namespace heed
