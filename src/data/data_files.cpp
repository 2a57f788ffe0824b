#include "data/data_files.h"

#include <filesystem>

#include "base/error.h"

namespace heed {

ReadOptions read_options(const RunConfig& c) {
  const bool bytes = c.tokenizer.type == TokenizerConfig::byte;
  return {bytes && c.data.normalize == Normalize::none, c.data.lowercase, c.data.normalize};
}

std::string data_path(const std::string& folder, const std::string& key,
                      const std::string& written) {
  namespace fs = std::filesystem;
  if (written == "-")
    throw Error(Exit::data,
                "data." + key + ": - is standard input; expected a file, which can be read again.",
                key == "train" ? "heed train -, which stores the text" : "write it to a file");
  const std::string path = resolve_path(folder, written);
  std::error_code ignored;
  if (fs::symlink_status(path, ignored).type() == fs::file_type::not_found)
    throw Error(Exit::data, "data." + key + ": " + path + ": no such file.",
                "check the path; train and resume take another with --set data." + key +
                    "=PATH (from the folder of the config, or absolute; of a list: all of it)");
  if (fs::is_other(fs::status(path, ignored)))
    throw Error(Exit::data,
                path + ": is a pipe or a device; expected a file, which can be read again.",
                "write its text to a file first");
  return path;
}

}  // namespace heed
