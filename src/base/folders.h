// Creating, renaming, linking and removing files and folders durably. Errors, interrupted calls and
// SystemCalls are as in files.h.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace heed {

// Replaces a file atomically: at any time the old or the new one is there, complete. On return the
// new one is durable. Uses a sibling named ".tmp-PROCESS-...". `mode`: of the new one, less the
// umask.
void replace_file(const std::filesystem::path& path, std::string_view bytes, mode_t mode = 0666);
// A copy of a file at a free name, durable but for the name.
void copy_file(const std::filesystem::path& from, const std::filesystem::path& to);
// Points the symbolic link `path` at `target` (stored as given, relative to the link), durably. The
// link always exists.
void replace_symlink(const std::filesystem::path& path, const std::string& target);

// The folder that contains a path; "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& path);
// Whether anything has this name, even a dangling link.
bool path_exists(const std::filesystem::path& path);
// What has this name: a link is a link, wherever it leads.
std::filesystem::file_type type_of(const std::filesystem::path& path);
// Does its folder's list have this name? Of a run's own files a failing look is no proof that they
// are gone.
bool is_listed(const std::filesystem::path& path);
// The names in a folder, sorted.
std::vector<std::string> names_in(const std::filesystem::path& path);
// The same; none if it is no folder, or cannot be listed.
std::vector<std::string> readable_names(const std::filesystem::path& path);
// False if something is already there.
bool make_folder(const std::filesystem::path& path);
// Makes the names in a folder durable.
void sync_folder(const std::filesystem::path& path);
// Without `replace`, nothing may have the name `to`.
void rename_path(const std::filesystem::path& from, const std::filesystem::path& to,
                 bool replace = true);
// A new folder, whole and durable, or none: its files are written into path(), which put_in_place()
// renames: a sibling of `place` with a name of its own, ".tmp-NAME-" and eight hexadecimal digits.
// Anything already at `place` moves to `aside` then, and back on failure. Without an `aside` it is
// an Error, unless it is an empty folder, which stays: files are renamed from ".tmp-heed" in it,
// config.json the last.
class NewFolder {
 public:
  explicit NewFolder(const std::filesystem::path& place, const std::filesystem::path& aside = {});
  ~NewFolder();  // removes what is not in place
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& place() const { return place_; }
  const std::filesystem::path& aside() const { return aside_; }
  const std::filesystem::path& path() const { return path_; }
  void put_in_place();

 private:
  std::filesystem::path place_, aside_, path_;
  bool fills_;  // an empty folder
};
// Removes a file or a folder with its contents, if it exists.
void remove_tree(const std::filesystem::path& path);
// The bytes that are free in the folder `path`; infinity if that is not known. Error if a
// checkpoint of `needed` bytes does not fit.
double check_free_space(const std::filesystem::path& path, double needed);

}  // namespace heed
