#include "data/data_files.h"

#include <filesystem>

#include "base/error.h"
#include "base/format.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// What to try where data.<key> names no file: the same path from the current folder, or the script
// that downloads it.
std::string remedy(const std::string& key, const std::string& written, const fs::path& path) {
  const std::string set = "--set data." + key + "=";
  std::error_code ignored;
  if (fs::exists(written, ignored))
    return set + shell_word(fs::absolute(written).lexically_normal().string()) +
           " (other paths start at the folder of the config)";
  for (fs::path folder = path.parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    if (folder.filename() == "downloads" && folder.parent_path().filename() == "data")
      return "scripts/get_data.sh " + (*path.lexically_relative(folder).begin()).stem().string() +
             ", which downloads it; or " + set + "PATH";
  return "check the path; train and resume take another with " + set +
         "PATH (from the folder of the config, or absolute; of a list: all of it), and after "
         "heed resume all commands look there";
}

}  // namespace

ReadOptions read_options(const RunConfig& c) {
  const bool bytes = c.tokenizer.type == TokenizerConfig::byte;
  return {bytes && c.data.normalize == Normalize::none, c.data.lowercase, c.data.normalize};
}

void refuse_pipe(const std::string& path) {
  std::error_code ignored;
  if (fs::is_other(fs::status(path, ignored)))
    throw Error(Exit::data,
                path + ": is a pipe or a device; expected a file, which can be read again.",
                "write its text to a file first");
}

std::string data_path(const std::string& folder, const std::string& key,
                      const std::string& written) {
  if (written == "-")
    throw Error(Exit::data,
                "data." + key + ": - is standard input; expected a file, which can be read again.",
                key == "train" ? "heed train -, which stores the text" : "write it to a file");
  const std::string path = resolve_path(folder, written);
  std::error_code ignored;
  if (fs::symlink_status(path, ignored).type() == fs::file_type::not_found)
    throw Error(Exit::data, "data." + key + ": " + path + ": no such file.",
                remedy(key, written, path));
  refuse_pipe(path);
  return path;
}

}  // namespace heed
