// Reads lines of a file or of standard input, a few at a time, for commands that answer as they
// read.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "base/input_file.h"
#include "data/corpus.h"

namespace heed {

class LineReader {
 public:
  // "-" is standard input. Error (data) if there is no such file.
  LineReader(const std::string& path, const ReadOptions& options)
      : name_(path == "-" ? "standard input" : path),
        options_(options),
        lines_(path, InputFile::Allow::anything, Exit::data) {}

  // The next lines, at most n, without \n or \r\n and without a byte order mark; empty at the end.
  // It waits for one line only, so that interactive use gets an answer per line. Error (data) with
  // file and line on invalid UTF-8, once the lines before it have been returned.
  std::vector<std::string> read(std::size_t n);

 private:
  std::string checked(std::string line);

  std::string name_;
  ReadOptions options_;
  InputLines lines_;
  std::size_t number_ = 0;
  std::exception_ptr failed_;  // thrown once the lines before it have been returned
};

}  // namespace heed
