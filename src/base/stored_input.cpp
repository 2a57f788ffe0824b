#include "base/stored_input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/files.h"
#include "base/input_file.h"

namespace heed {
namespace {

constexpr std::size_t kBlock = 1 << 20;
constexpr std::string_view kFolder = "/proc/self/fd/";

}  // namespace

StoredInput::StoredInput() : fd_(::memfd_create("standard input", MFD_CLOEXEC)) {
  const auto failed = [] { throw_file_error("keep", "standard input", errno, Exit::memory); };
  if (fd_ < 0) failed();
  InputFile input("-", InputFile::Allow::anything, Exit::data);
  std::size_t size = 0;
  for (std::string block; input.append_to(block, kBlock); block.clear())
    for (std::size_t at = 0; at < block.size();) {
      const ssize_t n = ::write(fd_, block.data() + at, block.size() - at);
      if (n < 0 && errno != EINTR) failed();
      if (n > 0) size += n, at += n;
    }
  if (size == 0) throw Error(Exit::data, "standard input is empty; expected text.");
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
