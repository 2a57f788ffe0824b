#include "cli/prompt.h"

#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <iterator>

namespace heed {

std::string all_of_input() {
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

std::string piped_input() {
  struct stat status = {};
  if (::fstat(STDIN_FILENO, &status) != 0) return "";
  if (!S_ISFIFO(status.st_mode) && !S_ISREG(status.st_mode)) return "";
  return all_of_input();
}

std::string without_final_newline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace heed
