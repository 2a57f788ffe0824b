#include "cli/prompt.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>

#include "base/error.h"

namespace heed {

std::string all_of_input() {
  std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  if (std::ferror(stdin))
    throw Error(Exit::data, std::string("cannot read standard input: ") + std::strerror(errno));
  return text;
}

std::string piped_input() {
  struct stat status = {};
  if (::fstat(STDIN_FILENO, &status) != 0) return "";
  if (!S_ISFIFO(status.st_mode) && !S_ISREG(status.st_mode)) return "";
  return all_of_input();
}

std::string without_final_newline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace heed
