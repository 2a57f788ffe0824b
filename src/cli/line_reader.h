// Lines of a file or of standard input, a few at a time, for commands that write while they read.
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

  // The next at most n lines, without \n or \r\n (and a byte order mark before the first); empty at
  // the end. It waits for one line only, so that interactive use gets an answer per line. Error
  // (data) naming file and line on invalid UTF-8, after the lines before it were given.
  std::vector<std::string> read(std::size_t n);

 private:
  std::string checked(std::string line);

  std::string name_;
  ReadOptions options_;
  InputLines lines_;
  std::size_t number_ = 0;
  std::exception_ptr failed_;  // thrown when the lines before it are taken
};

}  // namespace heed
