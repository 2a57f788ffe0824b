#include "data/dataset.h"

#include <filesystem>

#include "base/error.h"
#include "base/sha256.h"
#include "data/dataset_kinds.h"

namespace heed {

std::string DataHash::all() const {
  return valid.empty() ? data : sha256(data + valid);
}

ReadOptions read_options(const RunConfig& c) {
  return {c.tokenizer.type == TokenizerConfig::byte, c.data.lowercase};
}

std::string data_path(const std::string& folder, const std::string& key,
                      const std::string& written) {
  namespace fs = std::filesystem;
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

Dataset load_dataset(const RunConfig& c, const std::string& folder, Tokenizers& tokenizers) {
  Dataset d = c.data.has_pairs() ? load_pair_dataset(c, folder, tokenizers)
                                 : load_text_dataset(c, folder, tokenizers);
  const auto say = [&](const Split& s, const char* name) {
    if (s.unknown.count > 0) d.notes.push_back(std::string(name) + ": " + s.unknown.summary());
  };
  say(d.train, "training data");
  say(d.valid, "validation data");
  return d;
}

DataHash hash_dataset(const RunConfig& c, const std::string& folder) {
  return c.data.has_pairs() ? hash_pair_dataset(c, folder) : hash_text_dataset(c, folder);
}

}  // namespace heed
