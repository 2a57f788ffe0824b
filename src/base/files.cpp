#include "base/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "base/input_file.h"
#include "base/std_names.h"

namespace heed {
namespace {

const char* hint_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space on that disk, or use a folder on another one";
    case EROFS:
    case EINVAL:
      return "that file system cannot do this; use a folder on another one";
    case EACCES:
    case EPERM:
      return "check the permissions of that path and of the folders above it";
    case EFBIG:
      return "a larger limit on file sizes: ulimit -f unlimited";
    case ENOTEMPTY:
    case EEXIST:
      return "something else has that name: remove it or move it away";
    case ENOENT:
      return "check the path";
    case EXDEV:
      return "a folder of a container image cannot be renamed; use another run folder, --run DIR";
    default:
      return "";
  }
}

SystemCalls real;
SystemCalls* in_use = &real;

// A name beside a path that nobody can have prepared.
fs::path temporary_beside(const fs::path& path, const string& name) {
  return folder_of(path) / fmt::format(".tmp-{}-{:08x}", name, std::random_device()());
}

// Calls make(temporary) and renames the result to `path`, durably. Removes it on failure.
template <class Make>
void make_and_rename(const fs::path& path, Make make) {
  const fs::path temporary = temporary_beside(path, to_string(::getpid()));
  try {
    make(temporary);
    rename_path(temporary, path);
  } catch (const Error&) {
    system_calls().remove_all(temporary.c_str());
    throw;
  }
  sync_folder(folder_of(path));
}

}  // namespace

int SystemCalls::list(const char* folder, vector<string>& names) {
  error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    names.push_back(entries->path().filename().string());
  errno = error.value();
  return error ? -1 : 0;
}

int SystemCalls::remove_all(const char* path) {
  error_code error;
  fs::remove_all(path, error);
  errno = error.value();
  return error ? -1 : 0;
}

int SystemCalls::rename_new(const char* from, const char* to) {
  const int result = ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
  const bool can = result == 0 || (errno != EINVAL && errno != ENOSYS);
  return can ? result : rename(from, to);  // which replaces files and empty folders alone
}

SystemCalls& system_calls() {
  return *in_use;
}

SystemCalls& use_system_calls(SystemCalls& calls) {
  return *exchange(in_use, &calls);
}

void throw_file_error(string_view operation, const fs::path& path, int error, Exit exit) {
  const string what = fmt::format("cannot {} {}: {}", operation, quoted_path(path),
                                  std::generic_category().message(error));
  throw Unreadable(exit, what, hint_for(error));
}

void refuse_link_or_pipe(const fs::path& path) {
  const fs::file_type type = type_of(path);
  if (type == fs::file_type::symlink || type == fs::file_type::fifo)
    throw store_error("cannot write {}: it is a {}, expected a file", quoted_path(path),
                      type == fs::file_type::fifo ? "pipe" : "symbolic link")
        .hint("remove it or move it away");
}

bool is_same_file(int fd, const fs::path& path) {
  struct stat open, named;
  if (system_calls().status(path.c_str(), &named) != 0)
    return errno != ENOENT ||
           ranges::count(readable_names(folder_of(path)), path.filename().string()) > 0;
  return system_calls().status(fd, &open) != 0 ||
         (open.st_dev == named.st_dev && open.st_ino == named.st_ino);
}

OutputFile::OutputFile(const fs::path& path, int flag, const fs::path& named, mode_t mode)
    : path_(named) {
  refuse_link_or_pipe(path);
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flag;
  fd_ = repeat_if_interrupted(&SystemCalls::open, path.c_str(), flags, mode);
  if (fd_ < 0) throw_file_error(flag == O_APPEND ? "open" : "create", path_, errno);
}

void OutputFile::write(span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = repeat_if_interrupted(&SystemCalls::write, fd_, bytes.data(), bytes.size());
    if (n <= 0) throw_file_error("write", path_, n < 0 ? errno : EIO);
    bytes = bytes.subspan(n);
  }
}

void OutputFile::sync() {
  if (repeat_if_interrupted(&SystemCalls::fsync, fd_) != 0) throw_file_error("sync", path_, errno);
}

void OutputFile::finish() {
  sync();
  // On Linux the descriptor is gone even if close is interrupted, and the bytes are synced.
  const int result = system_calls().close(exchange(fd_, -1));
  if (result != 0 && errno != EINTR) throw_file_error("close", path_, errno);
}

void AppendFile::append_line(string_view line) {
  const off_t before = system_calls().seek(fd_, 0, SEEK_END);
  const string text = string(line) + '\n';
  try {
    write(text);
  } catch (const Error&) {
    system_calls().truncate(fd_, before);
    throw;
  }
}

void replace_file(const fs::path& path, string_view bytes, mode_t mode) {
  make_and_rename(path, [&](const fs::path& temporary) {
    OutputFile file(temporary, O_EXCL, path, mode);
    file.write(bytes);
    file.finish();
  });
}

void copy_file(const fs::path& from, const fs::path& to) {
  InputFile input(from, InputFile::Allow::link);  // of a StoredInput
  OutputFile output(to);
  for (string block; input.append_to(block, 1 << 20); block.clear()) output.write(block);
  output.finish();
}

void replace_symlink(const fs::path& path, const string& target) {
  make_and_rename(path, [&](const fs::path& temporary) {
    if (repeat_if_interrupted(&SystemCalls::symlink, target.c_str(), temporary.c_str()) == 0)
      return;
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
      throw_file_error("create the link", temporary, errno);
    throw store_error("cannot create the link {}: its file system has no symbolic links",
                      quoted_path(path))
        .hint("use another file system: vfat and exFAT have no links");
  });
}

fs::file_type type_of(const fs::path& path) {
  struct stat found = {};
  if (system_calls().status(path.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)
      return fs::file_type::not_found;
    throw_file_error("look at", path, errno);
  }
  return S_ISREG(found.st_mode)    ? fs::file_type::regular
         : S_ISDIR(found.st_mode)  ? fs::file_type::directory
         : S_ISLNK(found.st_mode)  ? fs::file_type::symlink
         : S_ISFIFO(found.st_mode) ? fs::file_type::fifo
                                   : fs::file_type::unknown;
}

bool is_listed(const fs::path& path) {
  return ranges::count(names_in(folder_of(path)), path.filename().string()) > 0;
}

vector<string> names_in(const fs::path& path) {
  vector<string> names;
  if (system_calls().list(path.c_str(), names) != 0) throw_file_error("list", path, errno);
  ranges::sort(names);
  return names;
}

vector<string> readable_names(const fs::path& path) try {
  return names_in(path);
} catch (const Error&) {
  return {};
}

bool make_folder(const fs::path& path) {
  if (repeat_if_interrupted(&SystemCalls::mkdir, path.c_str(), 0777) == 0) return true;
  if (errno == EEXIST) return false;
  throw_file_error("create the folder", path, errno);
}

void sync_folder(const fs::path& path) {
  const int fd = repeat_if_interrupted(&SystemCalls::open, path.c_str(),
                                       O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) throw_file_error("open the folder", path, errno);
  const int result = repeat_if_interrupted(&SystemCalls::fsync, fd);
  const int error = errno;
  system_calls().close(fd);
  // How file systems report that they cannot sync a folder (CIFS, some of FUSE).
  const bool cannot = error == EINVAL || error == EOPNOTSUPP;
  if (result != 0 && !cannot) throw_file_error("sync the folder", path, error);
}

void rename_path(const fs::path& from, const fs::path& to, bool replace) {
  const auto rename = replace ? &SystemCalls::rename : &SystemCalls::rename_new;
  if (repeat_if_interrupted(rename, from.c_str(), to.c_str()) == 0) return;
  const int error = errno;
  throw_file_error("rename " + quoted_path(from) + " to", to, error);
}

NewFolder::NewFolder(const fs::path& place, const fs::path& aside) : place_(place), aside_(aside) {
  fills_ = aside.empty() && is_folder(place);
  if (fills_ && !names_in(place).empty()) throw_file_error("fill", place, ENOTEMPTY);
  path_ = fills_ ? place / ".tmp-heed" : temporary_beside(place, place.filename());
  if (!make_folder(path_)) throw_file_error("create the folder", path_, EEXIST);
}

NewFolder::~NewFolder() {
  system_calls().remove_all(path_.c_str());  // the disk may be full
}

void NewFolder::put_in_place() {
  vector<pair<fs::path, fs::path>> moves;
  if (fills_) {
    vector<string> names = names_in(path_);
    std::stable_partition(names.begin(), names.end(),
                          [](const auto& name) { return name != "config.json"; });
    for (const string& name : names) moves.emplace_back(path_ / name, place_ / name);
  } else {
    if (!aside_.empty() && path_exists(place_)) moves.emplace_back(place_, aside_);
    moves.emplace_back(path_, place_);
  }
  sync_folder(path_);
  auto move = moves.begin();
  try {
    for (; move != moves.end(); ++move) rename_path(move->first, move->second, false);
    sync_folder(folder_of(moves.back().second));
    if (fills_) remove_tree(path_);
  } catch (...) {
    while (move != moves.begin()) {
      --move;
      system_calls().rename(move->second.c_str(), move->first.c_str());
    }
    throw;
  }
}

void remove_tree(const fs::path& path) {
  if (repeat_if_interrupted(&SystemCalls::remove_all, path.c_str()) != 0)
    throw_file_error("remove", path, errno);
}

double check_free_space(const fs::path& path, double needed) {
  fs::path there = fs::absolute(path);
  while (!path_exists(there) && there.has_relative_path()) there = there.parent_path();
  error_code unknown;
  const fs::space_info space = fs::space(there, unknown);
  const double available = space.available;
  if (unknown || space.capacity == 0) return INFINITY;
  if (available >= needed) return available;
  throw store_error("no room for a checkpoint in {}: it needs about {}, {} are free",
                    quoted_path(path), format_bytes(needed), format_bytes(available))
      .hint("free some space on that disk, or --run on another");
}

}  // namespace heed
