// Sentence pairs and lists of lines; declared in corpus.h.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"
#include "data/corpus.h"
#include "text/utf8.h"

namespace heed {
namespace {

void add(Pairs& pairs, const std::string& path, std::size_t line, std::string_view source,
         std::string_view target) {
  if (is_blank(source) || is_blank(target)) {
    if (pairs.empty++ == 0) pairs.first_empty = fmt::format("{}:{}", path, line);
    return;
  }
  pairs.source.push_back(source);
  pairs.target.push_back(target);
  pairs.lines.push_back(line);
}

// Error unless there is a pair.
Pairs checked(Pairs pairs, const std::string& path) {
  if (pairs.size() > 0) return pairs;
  throw Error(Exit::data, fmt::format("{}: no pair has words on both sides; {}.", path,
                                      pairs.empty_in_words()));
}

std::string read_one(const std::string& path, const ReadOptions& options) {
  return read_text(std::array{path}, options);
}

}  // namespace

std::string Pairs::empty_in_words() const {
  if (empty == 0) return "";
  return fmt::format("left out {} of {} with an empty side, the first: {}", empty,
                     counted(std::to_string(size() + empty), "pair"), first_empty);
}

Pairs as_read(const Pairs& written, const ReadOptions& options) {
  Pairs read;
  read.lines = written.lines;
  read.empty = written.empty;
  read.first_empty = written.first_empty;
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
  const auto source = lines_of(pairs.files[0]), target = lines_of(pairs.files[1]);
  if (source.size() != target.size())
    throw Error(Exit::data,
                fmt::format("{} has {} lines, {} has {} lines; expected one target line for every "
                            "source line.",
                            source_path, source.size(), target_path, target.size()),
                "compare the files with: wc -l, paste");
  for (std::size_t i = 0; i < source.size(); ++i)
    add(pairs, is_blank(source[i]) ? source_path : target_path, i + 1, source[i], target[i]);
  return checked(std::move(pairs), source_path);
}

Pairs read_tsv(const std::string& path, const ReadOptions& options) {
  Pairs pairs;
  pairs.files.push_back(read_one(path, options));
  const auto lines = lines_of(pairs.files[0]);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const auto tabs = std::ranges::count(line, '\t');
    if (tabs != 1 && !is_blank(line))
      throw Error(
          Exit::data,
          fmt::format("{}:{}: found {} tabs; expected exactly one, between source and target.",
                      path, i + 1, tabs),
          tabs == 0 ? (i == 0 ? "for two files of parallel lines, data.source and data.target"
                              : "a tab between the two sides on this line")
                    : "of a table with more columns only two (cut -f1,2); a space for a tab in a "
                      "sentence");
    const std::size_t tab = std::min(line.find('\t'), line.size());
    add(pairs, path, i + 1, line.substr(0, tab), line.substr(std::min(tab + 1, line.size())));
  }
  return checked(std::move(pairs), path);
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
