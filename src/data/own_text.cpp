#include "data/own_text.h"

#include <bitset>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/folders.h"
#include "base/utf8.h"
#include "data/corpus.h"

namespace heed {

std::vector<std::string> text_files(const std::vector<std::string>& named) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& name : named) {
    if (!path_exists(name)) throw Error(Exit::data, name + ": no such file.", "check the path");
    std::error_code none;
    if (!fs::is_directory(name, none)) {
      files.push_back(name);
      continue;
    }
    const std::size_t before = files.size();
    for (const std::string& file : names_in(name)) {
      const fs::path path = fs::path(name) / file;
      if (!file.starts_with('.') && fs::is_regular_file(path, none)) files.push_back(path.string());
    }
    if (files.size() == before)
      throw Error(Exit::data, name + ": this folder has no files (folders in it do not count).",
                  "a folder of texts, or the texts themselves");
  }
  for (const std::string& file : files)
    if (find_invalid_utf8(file) != std::string::npos)
      throw Error(Exit::usage,
                  printable(file) + ": this name is not valid UTF-8, which a config is written in.",
                  "rename the file, or make a link to it");
  return files;
}

TextFacts text_facts(std::span<const std::string> files) {
  TextFacts facts;
  const auto seen = std::make_unique<std::bitset<0x110000>>();
  scan_text(files, {.any_bytes = true}, [&](std::string_view text) {
    facts.bytes += text.size();
    facts.utf8 = facts.utf8 && find_invalid_utf8(text) == std::string_view::npos;
    for (std::size_t at = 0; facts.utf8 && at < text.size(); ++facts.characters) {
      const CodePoint c = code_point_at(text, at);
      seen->set(c.value);
      at += c.length;
    }
  });
  if (facts.utf8)
    facts.distinct = static_cast<int>(seen->count());
  else
    facts.characters = 0;
  return facts;
}

}  // namespace heed
