#include "cli/prompt.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/input_file.h"

namespace heed {

std::string prompt_from(const std::string& path) {
  constexpr std::uint64_t kMost = 64u << 20;
  std::string text = read_file(path, kMost, InputFile::Allow::anything, Exit::data);
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

std::string piped_prompt() {
  struct stat status = {};
  if (::fstat(STDIN_FILENO, &status) != 0) return "";
  return S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode) ? prompt_from("-") : "";
}

}  // namespace heed
