#include "base/stored_input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string_view>

#include "base/cgroup.h"
#include "base/files.h"
#include "base/input_file.h"

namespace heed {
namespace {

constexpr std::size_t kBlock = 16 << 20;
constexpr std::string_view kFolder = "/proc/self/fd/";

}  // namespace

StoredInput::StoredInput() : fd_(::memfd_create("standard input", MFD_CLOEXEC)) {
  InputFile input("-", InputFile::Allow::anything, Exit::data);
  std::ofstream file(path(), std::ios::binary);
  std::size_t stored = 0, room = 0;  // it is kept in memory
  for (std::string block; file && input.append_to(block, 1 << 20); block.clear()) {
    if (stored + block.size() > room) {
      require_memory(kBlock, "standard input");
      room = stored + kBlock;
    }
    file << block;
    stored += block.size();
  }
  if (!file.flush()) throw_file_error("keep", "standard input", errno, Exit::memory);
  if (file.tellp() == 0) throw Error(Exit::data, "standard input is empty; expected text.");
}

StoredInput::~StoredInput() {
  ::close(fd_);
}

std::string StoredInput::path() const {
  return std::string(kFolder) + std::to_string(fd_);
}

std::string shown_path(const std::string& path) {
  return path.starts_with(kFolder) ? "standard input" : path;
}

}  // namespace heed
