// Lines of a file or of standard input, a few at a time, for commands that write while they read.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "data/corpus.h"

namespace heed {

class LineReader {
 public:
  // "-" is standard input. Error (data) if there is no such file.
  LineReader(const std::string& path, const ReadOptions& options);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // The next at most n lines, without \n or \r\n (and a byte order mark before the first); empty at
  // the end. It waits for one line only: whoever types them, or writes them into a pipe, may want
  // an answer before the next. Error (data) naming file and line on invalid UTF-8, after the
  // lines before it were given.
  std::vector<std::string> read(std::size_t n);

 private:
  bool fill();       // more bytes, waiting for them; false at the end
  bool line_here();  // is there one that need not be waited for?
  std::string take_line();
  std::string checked(std::string line);

  std::string name_;
  ReadOptions options_;
  int fd_ = 0;
  bool at_end_ = false;
  std::string bytes_;        // read, and not yet taken from begin_ on
  std::size_t begin_ = 0;    // of the next line
  std::size_t scanned_ = 0;  // there is no \n from begin_ to here
  std::size_t number_ = 0;
  std::exception_ptr failed_;  // thrown when the lines before it are taken
};

}  // namespace heed
