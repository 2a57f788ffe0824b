#include "base/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/folders.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

std::string hint_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space on that disk, or use a folder on another one";
    case EROFS:
      return "that file system is read-only; use a folder on another one";
    case EACCES:
    case EPERM:
      return "check the permissions of that path and of the folders above it";
    case EFBIG:
      return "a larger limit on file sizes: ulimit -f unlimited";
    case EISDIR:
      return "that is a folder: name a file, or move the folder away";
    case ENOTEMPTY:
    case EEXIST:
      return "something else has that name: remove it or move it away";
    case ENOENT:
      return "check the path";
    case EXDEV:
      return "a folder from a lower layer of an overlay file system (a container image) cannot be "
             "renamed: cp -a makes a copy that can; or use another run folder, --run DIR";
    case EINVAL:
      return "that file system cannot do this; use a folder on another one";
    case EIO:
      return "the device itself reports errors; if it is a disk, copy the run elsewhere and check "
             "it";
    default:
      return "";
  }
}

}  // namespace

int SystemCalls::list(const char* folder, std::vector<std::string>& names) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    names.push_back(entries->path().filename().string());
  errno = error.value();
  return error ? -1 : 0;
}

int SystemCalls::remove_all(const char* path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return 0;
  errno = error.value();
  return -1;
}

int SystemCalls::rename_new(const char* from, const char* to) {
  const int result = ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
  const bool can = result == 0 || (errno != EINVAL && errno != ENOSYS);
  return can ? result : rename(from, to);  // which replaces files and empty folders alone
}

namespace {

SystemCalls& in_use(SystemCalls* other = nullptr) {
  static SystemCalls real;
  static SystemCalls* calls = &real;
  return *(other ? std::exchange(calls, other) : calls);
}

}  // namespace

SystemCalls& system_calls() {
  return in_use();
}

SystemCalls& use_system_calls(SystemCalls& calls) {
  return in_use(&calls);
}

std::string quoted_path(const fs::path& path) {
  return '"' + path.string() + '"';
}

void throw_file_error(std::string_view operation, const fs::path& path, int error, Exit exit) {
  const std::string what = fmt::format("cannot {} {}: {}", operation, quoted_path(path),
                                       std::generic_category().message(error));
  throw Unreadable(exit, what, hint_for(error));
}

void refuse_link_or_pipe(const fs::path& path) {
  const fs::file_type type = type_of(path);
  if (type == fs::file_type::symlink || type == fs::file_type::fifo)
    throw Error(Exit::store,
                fmt::format("cannot write {}: it is a {}, expected a file", quoted_path(path),
                            type == fs::file_type::fifo ? "pipe" : "symbolic link"),
                "remove it or move it away");
}

bool is_same_file(int fd, const fs::path& path) {
  struct stat open, named;
  if (system_calls().status(path.c_str(), &named) != 0)
    return errno != ENOENT ||
           std::ranges::count(readable_names(folder_of(path)), path.filename().string()) > 0;
  return system_calls().status(fd, &open) != 0 ||
         (open.st_dev == named.st_dev && open.st_ino == named.st_ino);
}

OutputFile::OutputFile(const fs::path& path) : OutputFile("create", O_TRUNC, path, path) {}

OutputFile::OutputFile(const fs::path& path, const fs::path& named, mode_t mode)
    : OutputFile("create", O_EXCL, path, named, mode) {}

OutputFile::OutputFile(std::string_view operation, int flag, const fs::path& path,
                       const fs::path& named, mode_t mode)
    : path_(named) {
  refuse_link_or_pipe(path);
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flag;
  fd_ = repeat_if_interrupted([&] { return system_calls().open(path.c_str(), flags, mode); });
  if (fd_ < 0) throw_file_error(operation, path_, errno);
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) system_calls().close(fd_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = repeat_if_interrupted(
        [&] { return system_calls().write(fd_, bytes.data(), bytes.size()); });
    if (n < 0) throw_file_error("write", path_, errno);
    if (n == 0) throw_file_error("write", path_, EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void OutputFile::sync() {
  if (repeat_if_interrupted([&] { return system_calls().fsync(fd_); }) != 0)
    throw_file_error("sync", path_, errno);
}

void OutputFile::finish() {
  sync();
  // On Linux the descriptor is gone even if close is interrupted, and the bytes are synced.
  const int result = system_calls().close(std::exchange(fd_, -1));
  if (result != 0 && errno != EINTR) throw_file_error("close", path_, errno);
}

AppendFile::AppendFile(const fs::path& path) : OutputFile("open", O_APPEND, path, path) {}

void AppendFile::append_line(std::string_view line) {
  const off_t before = system_calls().seek(fd_, 0, SEEK_END);
  const std::string text = std::string(line) + '\n';
  try {
    write(text);
  } catch (const Error&) {
    system_calls().truncate(fd_, before);
    throw;
  }
}

}  // namespace heed
