#include "cli/line_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files.h"
#include "text/utf8.h"

namespace heed {

LineReader::LineReader(const std::string& path, const ReadOptions& options)
    : name_(path == "-" ? "standard input" : path), options_(options), fd_(STDIN_FILENO) {
  if (path != "-") fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) throw_file_error("read", path, errno, Exit::data);
}

LineReader::~LineReader() {
  if (fd_ != STDIN_FILENO) ::close(fd_);
}

bool LineReader::fill() {
  constexpr std::size_t kBlock = 1 << 16;
  bytes_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  const std::size_t size = bytes_.size();
  bytes_.resize(size + kBlock);
  ssize_t n = 0;
  pollfd more{fd_, POLLIN, 0};
  do {
    n = ::read(fd_, bytes_.data() + size, kBlock);
  } while (n < 0 && (errno == EINTR || (errno == EAGAIN && ::poll(&more, 1, -1) > 0)));
  if (n < 0) throw_file_error("read", name_, errno, Exit::data);
  bytes_.resize(size + static_cast<std::size_t>(n));
  at_end_ = n == 0;
  return !at_end_;
}

bool LineReader::line_here() {
  while (true) {
    scanned_ = std::min(bytes_.find('\n', scanned_), bytes_.size());
    if (scanned_ < bytes_.size()) return true;
    if (at_end_) return begin_ < bytes_.size();
    pollfd more{fd_, POLLIN, 0};
    if (::poll(&more, 1, 0) <= 0) return false;
    fill();
  }
}

std::string LineReader::take_line() {
  std::string line = bytes_.substr(begin_, scanned_ - begin_);
  begin_ = scanned_ = std::min(scanned_ + 1, bytes_.size());
  return line;
}

std::string LineReader::checked(std::string line) {
  ++number_;
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  if (line.ends_with('\r')) line.pop_back();
  if (!options_.any_bytes) check_utf8(line, name_ + ", line " + std::to_string(number_));
  return options_.lowercase ? to_lower(line) : line;
}

std::vector<std::string> LineReader::read(std::size_t n) {
  if (failed_) std::rethrow_exception(failed_);
  std::vector<std::string> lines;
  try {
    while (lines.size() < n) {
      if (line_here()) {
        lines.push_back(checked(take_line()));
      } else {
        if (!lines.empty() || at_end_) break;
        fill();
      }
    }
  } catch (const Error&) {
    if (lines.empty()) throw;
    failed_ = std::current_exception();
  }
  return lines;
}

}  // namespace heed
