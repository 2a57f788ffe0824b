// Lines of a file or of standard input, a few at a time, for commands that write while they read.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "text/corpus.h"

namespace heed {

class LineReader {
 public:
  // "-" is standard input. Error (data) if there is no such file.
  LineReader(const std::string& path, const ReadOptions& options);

  // The next at most n lines, without \n or \r\n (and a byte order mark before the first); empty at
  // the end. Typed lines come one at a time. Error (data) naming file and line on invalid UTF-8.
  std::vector<std::string> read(std::size_t n);

 private:
  std::string name_;
  ReadOptions options_;
  bool interactive_ = false;
  std::ifstream file_;
  std::istream* in_;
  std::size_t number_ = 0;
};

}  // namespace heed
