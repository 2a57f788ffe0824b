#include "cli/line_reader.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "base/files.h"
#include "text/utf8.h"

namespace heed {

LineReader::LineReader(const std::string& path, const ReadOptions& options)
    : name_(path), options_(options), in_(&file_) {
  if (path == "-") {
    name_ = "standard input";
    in_ = &std::cin;
    interactive_ = ::isatty(STDIN_FILENO) == 1;
    return;
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw_file_error("read", path, EISDIR, Exit::data);
  errno = 0;
  file_.open(path, std::ios::binary);
  if (!file_) throw_file_error("read", path, errno, Exit::data);
}

std::vector<std::string> LineReader::read(std::size_t n) {
  std::vector<std::string> lines;
  std::string line;
  while (lines.size() < n && std::getline(*in_, line)) {
    ++number_;
    if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    if (line.ends_with('\r')) line.pop_back();
    if (!options_.any_bytes) check_utf8(line, name_ + ", line " + std::to_string(number_));
    lines.push_back(options_.lowercase ? to_lower(line) : line);
    if (interactive_) break;
  }
  if (in_->bad() || (in_ == &std::cin && std::ferror(stdin)))
    throw_file_error("read", name_, errno, Exit::data);
  return lines;
}

}  // namespace heed
