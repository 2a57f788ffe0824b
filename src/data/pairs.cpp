// Sentence pairs and lists of lines; declared in corpus.h.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/utf8.h"
#include "data/corpus.h"
#include "text/utf8.h"

namespace heed {
namespace {

bool is_blank(std::string_view line) {
  return split_words(line).empty();
}

Error line_error(const std::string& path, std::size_t index, const std::string& what,
                 const std::string& hint = "") {
  return Error(Exit::data, fmt::format("{}:{}: {}", path, index + 1, what), hint);
}

std::string read_one(const std::string& path, const ReadOptions& options) {
  return read_text(std::array{path}, options);
}

}  // namespace

Pairs as_read(const Pairs& written, const ReadOptions& options) {
  Pairs read;
  read.files.resize(2);
  for (const bool target : {false, true}) {
    std::string& file = read.files[target];
    std::vector<std::size_t> ends;
    for (const std::string_view line : target ? written.target : written.source) {
      file += as_read(line, options);
      ends.push_back(file.size());
    }
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      (target ? read.target : read.source)
          .push_back(std::string_view(file).substr(begin, end - begin));
      begin = end;
    }
  }
  return read;
}

Pairs read_parallel(const std::string& source_path, const std::string& target_path,
                    const ReadOptions& options) {
  Pairs pairs;
  for (const std::string& path : {source_path, target_path})
    pairs.files.push_back(read_one(path, options));
  pairs.source = lines_of(pairs.files[0]);
  pairs.target = lines_of(pairs.files[1]);
  if (pairs.source.size() != pairs.target.size())
    throw Error(Exit::data,
                fmt::format("{} has {} lines, {} has {} lines; expected one target line for every "
                            "source line.",
                            source_path, pairs.source.size(), target_path, pairs.target.size()),
                "compare the files with: wc -l, paste");
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const bool source_blank = is_blank(pairs.source[i]);
    if (!source_blank && !is_blank(pairs.target[i])) continue;
    throw line_error(source_blank ? source_path : target_path, i,
                     "the line is empty; expected a sentence on every line of both files.",
                     "remove the pair from both files");
  }
  return pairs;
}

Pairs read_tsv(const std::string& path, const ReadOptions& options) {
  Pairs pairs;
  pairs.files.push_back(read_one(path, options));
  const auto lines = lines_of(pairs.files[0]);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto tabs = std::count(lines[i].begin(), lines[i].end(), '\t');
    if (tabs == 0 && is_blank(lines[i]))
      throw line_error(path, i, "the line is empty; expected source, tab, target.",
                       "remove the line");
    if (tabs != 1)
      throw line_error(
          path, i,
          fmt::format("found {} tabs; expected exactly one, between source and target.", tabs));
    const std::size_t tab = lines[i].find('\t');
    pairs.source.push_back(lines[i].substr(0, tab));
    pairs.target.push_back(lines[i].substr(tab + 1));
    const bool source_blank = is_blank(pairs.source[i]);
    if (source_blank || is_blank(pairs.target[i]))
      throw line_error(path, i,
                       fmt::format("the {} is empty; expected a sentence on both sides of the tab.",
                                   source_blank ? "source" : "target"));
  }
  return pairs;
}

std::size_t split_pairs(std::size_t n, double valid_fraction) {
  return static_cast<std::size_t>(std::floor(static_cast<double>(n) * (1 - valid_fraction)));
}

std::vector<std::string> read_lines(const std::string& path, const ReadOptions& options) {
  const std::string text = read_one(path, options);
  const auto lines = lines_of(text);
  return {lines.begin(), lines.end()};
}

}  // namespace heed
