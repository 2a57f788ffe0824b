#include "base/stored_input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/input_file.h"

namespace heed {

StoredInput::StoredInput() : fd_(::memfd_create("standard input", MFD_CLOEXEC)) {
  const auto failed = [] { throw_file_error("keep", "standard input", errno, Exit::memory); };
  if (fd_ < 0) failed();
  InputFile input("-", InputFile::Allow::anything, Exit::data);
  std::size_t size = 0;
  for (std::string block; input.append_to(block, 1 << 20); block.clear())
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
  return "/proc/self/fd/" + std::to_string(fd_);
}

std::string StoredInput::bytes() const {
  return read_file(path(), ~std::uint64_t{0});
}

}  // namespace heed
