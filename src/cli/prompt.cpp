#include "cli/prompt.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>

#include "base/error.h"
#include "base/files.h"

namespace heed {

std::string all_of_input() {
  std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  if (std::ferror(stdin)) throw_file_error("read", "standard input", errno, Exit::data);
  return text;
}

std::string all_of_file(const std::string& path) {
  constexpr std::size_t kMost = 64u << 20;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) throw_file_error("read", path, errno, Exit::data);
  std::string text;
  std::array<char, 4096> block;
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), n);
    if (text.size() > kMost) throw Error(Exit::data, path + ": has more than 64 MiB.");
  }
  if (std::ferror(file.get())) throw_file_error("read", path, errno, Exit::data);
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
