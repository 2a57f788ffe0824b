// Writing files durably: they are on the disk when finish() or sync() returns. Creating, renaming,
// linking and removing files and folders durably.
//
// Every function throws Error (Exit::store by default) with the operation, the path and the
// system's reason. There is no state between calls, so any number of threads may write different
// files. Interrupted calls (EINTR) are repeated, short writes are continued. All calls on the files
// of a run go through SystemCalls, which tests replace to make calls fail.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/std_names.h"

namespace heed {

// The system calls behind virtual functions, which tests override to make calls fail. On failure -1
// and errno, as theirs.
class SystemCalls {
 public:
  virtual ~SystemCalls() = default;
  virtual int open(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }
  virtual ssize_t read(int fd, void* bytes, size_t size) { return ::read(fd, bytes, size); }
  virtual off_t seek(int fd, off_t to, int from) { return ::lseek(fd, to, from); }
  virtual int status(int fd, struct stat* found) { return ::fstat(fd, found); }
  virtual int status(const char* path, struct stat* found) { return ::lstat(path, found); }
  virtual int list(const char* folder, vector<string>& names);
  virtual ssize_t write(int fd, const void* bytes, size_t size) { return ::write(fd, bytes, size); }
  virtual int fsync(int fd) { return ::fsync(fd); }
  virtual int close(int fd) { return ::close(fd); }
  virtual int truncate(int fd, off_t size) { return ::ftruncate(fd, size); }
  virtual int mkdir(const char* path, mode_t mode) { return ::mkdir(path, mode); }
  virtual int symlink(const char* target, const char* path) { return ::symlink(target, path); }
  virtual int rename(const char* from, const char* to) { return ::rename(from, to); }
  virtual int rename_new(const char* from, const char* to);  // EEXIST if `to` is there
  virtual int remove_all(const char* path);                  // does not follow symlinks
};
// Those in use: the real ones, which are stateless, unless a test replaces them.
SystemCalls& system_calls();
SystemCalls& use_system_calls(SystemCalls& calls);  // returns those before

// Repeats a call while a signal interrupts it.
template <class Result, class... Parameters>
Result repeat_if_interrupted(Result (SystemCalls::*call)(Parameters...),
                             type_identity_t<Parameters>... arguments) {
  Result result = (system_calls().*call)(arguments...);
  while (result == -1 && errno == EINTR) result = (system_calls().*call)(arguments...);
  return result;
}

// A file that may be intact but cannot be read here and now, whatever the system's reason, or that
// another version of heed wrote. Damage is another Error: what was read and is wrong, a file that
// its folder, listed, does not name, and what is no plain file.
class Unreadable : public Error {
 public:
  using Error::Error;
};

// The bytes of a number, as files have them: the lowest first.
template <class T>
string bytes_of(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// A path in quotes, for messages.
inline string quoted_path(const fs::path& path) {
  return '"' + path.string() + '"';
}
// "cannot write /a/b: No space left on device", with a hint for common errors. It is Unreadable.
[[noreturn]] void throw_file_error(string_view operation, const fs::path& path, int error,
                                   Exit exit = Exit::store);

// Call before creating or extending a file. Error if the path is a symbolic link (to an unknown
// target) or a pipe (which blocks without a reader).
void refuse_link_or_pipe(const fs::path& path);

// Does the open file still have this name? Yes, where that cannot be looked at.
bool is_same_file(int fd, const fs::path& path);

// A new file, which replaces an old one. It is complete once finish() has returned. Errors name
// `named`: the final name of a temporary file.
class OutputFile {
 public:
  explicit OutputFile(const fs::path& path) : OutputFile(path, O_TRUNC, path) {}
  // `flag`: of open(), as O_EXCL for one that must not exist yet.
  OutputFile(const fs::path& path, int flag, const fs::path& named, mode_t mode = 0666);
  ~OutputFile() {
    if (fd_ >= 0) system_calls().close(fd_);
  }
  OutputFile& operator=(OutputFile&&) = delete;  // nor copied

  void write(span<const std::byte> bytes);
  void write(string_view text) { write(std::as_bytes(span(text))); }
  void sync();
  void finish();  // fsync and close

 protected:
  fs::path path_;  // in errors
  int fd_;
};

// A file that grows by whole lines (metrics). A partly written line is removed again.
// append_line() and sync() may be called from two threads.
class AppendFile : private OutputFile {
 public:
  explicit AppendFile(const fs::path& path) : OutputFile(path, O_APPEND, path) {}

  void append_line(string_view line);  // without its newline
  using OutputFile::sync;
};

// Replaces a file atomically: at any time the old or the new one is there, complete. On return the
// new one is durable. Uses a sibling named ".tmp-PROCESS-...". `mode`: of the new one, less the
// umask.
void replace_file(const fs::path& path, string_view bytes, mode_t mode = 0666);
// A copy of a file at a free name, durable but for the name.
void copy_file(const fs::path& from, const fs::path& to);
// Points the symbolic link `path` at `target` (stored as given, relative to the link), durably. The
// link always exists.
void replace_symlink(const fs::path& path, const string& target);

// Takes the reason of a call of std::filesystem that may fail, as its argument; nobody reads it.
inline error_code& ignored(error_code&& reason = {}) {
  return reason;
}

// The folder that contains a path; "." for a bare name.
inline fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}
// What has this name: a link is a link, wherever it leads.
fs::file_type type_of(const fs::path& path);
// Whether anything has this name, even a dangling link.
inline bool path_exists(const fs::path& path) {
  return type_of(path) != fs::file_type::not_found;
}
inline bool is_folder(const fs::path& path) {  // or a link to one; false if that cannot be told
  return fs::is_directory(path, ignored());
}
// Does its folder's list have this name? Of a run's own files a failing look is no proof that they
// are gone.
bool is_listed(const fs::path& path);
// The names in a folder, sorted.
vector<string> names_in(const fs::path& path);
// The same; none if it is no folder, or cannot be listed.
vector<string> readable_names(const fs::path& path);
// False if something is already there.
bool make_folder(const fs::path& path);
// Makes the names in a folder durable.
void sync_folder(const fs::path& path);
// Without `replace`, nothing may have the name `to`.
void rename_path(const fs::path& from, const fs::path& to, bool replace = true);
// A new folder, whole and durable, or none: its files are written into path(), which put_in_place()
// renames: a sibling of `place` with a name of its own, ".tmp-NAME-" and eight hexadecimal digits.
// Anything already at `place` moves to `aside` then, and back on failure. Without an `aside` it is
// an Error, unless it is an empty folder, which stays: files are renamed from ".tmp-heed" in it,
// config.json the last.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& place, const fs::path& aside = {});
  ~NewFolder();                                // removes what is not in place
  NewFolder& operator=(NewFolder&&) = delete;  // nor copied

  const fs::path& place() const { return place_; }
  const fs::path& aside() const { return aside_; }
  const fs::path& path() const { return path_; }
  void put_in_place();

 private:
  fs::path place_, aside_, path_;
  bool fills_;  // an empty folder
};
// Removes a file or a folder with its contents, if it exists.
void remove_tree(const fs::path& path);
// The bytes that are free in the folder `path`; infinity if that is not known. Error if a
// checkpoint of `needed` bytes does not fit.
double check_free_space(const fs::path& path, double needed);

}  // namespace heed
