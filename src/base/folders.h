// Names of files and folders: renaming, linking and removing so that it lasts. Errors, interrupted
// calls and SystemCalls are as in files.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/system_calls.h"

namespace heed {

// The new bytes are in place and durable when it returns; at any moment before, the old or the new
// file is there whole. Uses the sibling ".tmp-NAME".
void replace_file(const std::filesystem::path& path, std::string_view bytes,
                  SystemCalls& calls = system_calls());
// Points the symbolic link `path` at `target` (as written, relative to the link), durably and
// without a moment in which there is none.
void replace_symlink(const std::filesystem::path& path, const std::string& target,
                     SystemCalls& calls = system_calls());

// Whether anything has this name, a dangling link too.
bool path_exists(const std::filesystem::path& path);
// The names in a folder, sorted.
std::vector<std::string> names_in(const std::filesystem::path& path);
// False if something is already there.
bool make_folder(const std::filesystem::path& path, SystemCalls& calls = system_calls());
// Makes the names in a folder durable.
void sync_folder(const std::filesystem::path& path, SystemCalls& calls = system_calls());
void rename_path(const std::filesystem::path& from, const std::filesystem::path& to,
                 SystemCalls& calls = system_calls());
// Swaps two existing paths at once. False where the file system cannot.
bool exchange_paths(const std::filesystem::path& one, const std::filesystem::path& other,
                    SystemCalls& calls = system_calls());
// Removes a file or folder with all that is in it; nothing there is fine.
void remove_tree(const std::filesystem::path& path, SystemCalls& calls = system_calls());
// Throws if `path` (an existing folder) has less room than `needed` bytes; `what` is being written.
void check_free_space(const std::filesystem::path& path, std::uint64_t needed,
                      const std::string& what, SystemCalls& calls = system_calls());

}  // namespace heed
