#include "base/input_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>
#include <string_view>
#include <utility>

#include "base/cgroup.h"
#include "base/files.h"
#include "base/format.h"
#include "base/std_names.h"
#include "base/utf8.h"

namespace heed {
// What unpacks gzip (.gz). Its checksums are verified, as `gzip -t` does.
struct Gzip {
  Gzip() {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream, kGzipOnly + MAX_WBITS) != Z_OK) throw bad_alloc();
  }
  ~Gzip() { inflateEnd(&stream); }
  z_stream stream{};
};

namespace {

constexpr string_view kGzipMagic = "\x1F\x8B\x08";              // RFC 1952
constexpr string_view kXzMagic("\xFD\x37\x7A\x58\x5A\x00", 6);  // xz-file-format.txt

constexpr string_view kUtf32Mark("\xFF\xFE\0\0", 4);  // little-endian
constexpr size_t kPiece = 1 << 16;
constexpr double kRoom = 16 << 20;  // that a StoredInput leaves
constexpr string_view kFolder = "/proc/self/fd/";

int open_input(const fs::path& path, InputFile::Allow allow) {
  using Allow = InputFile::Allow;
  const bool any = allow >= Allow::anything;
  if (any && path == "-") return ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  int flags = O_RDONLY | O_CLOEXEC;
  if (!any) flags |= O_NONBLOCK;  // opening a pipe must not block before it is refused
  if (allow == Allow::file) flags |= O_NOFOLLOW;
  return repeat_if_interrupted(&SystemCalls::open, path.c_str(), flags, 0);
}

}  // namespace

InputFile::InputFile(const fs::path& path, Allow allow)
    : name_(allow >= Allow::anything && path == "-" ? "standard input" : path),
      exit_(allow >= Allow::anything ? Exit::data : Exit::store),
      fd_(open_input(path, allow)),
      looked_(allow < Allow::anything),
      may_be_utf16_(allow == Allow::text) {
  const int failed = errno;
  const auto refuse_kind = [&](const string& what) {
    refuse("it is " + what + ", expected a regular file");
  };
  struct stat info = {};
  if (fd_ < 0) {
    const bool seen = allow == Allow::file && system_calls().status(path.c_str(), &info) == 0;
    if (seen && !S_ISREG(info.st_mode))
      refuse_kind(S_ISLNK(info.st_mode) ? "a symbolic link" : "a device or pipe");
    throw_file_error("read", name_, failed, exit_);
  }
  const int status = system_calls().status(fd_, &info), unknown = errno;
  const bool regular = S_ISREG(info.st_mode);
  if (status != 0 || (allow < Allow::anything && !regular)) {
    ::close(fd_);
    if (status != 0) throw_file_error("read", name_, unknown, exit_);
    refuse_kind(S_ISDIR(info.st_mode) ? "a folder" : "a device or pipe");
  }
  if (regular) size_ = info.st_size;
}

void InputFile::refuse(const string& what, const string& hint) const {
  throw Error(exit_, fmt::format("cannot read {}: {}", quoted_path(name_), what), hint);
}

InputFile::~InputFile() {
  ::close(fd_);
}

size_t InputFile::read_raw(span<std::byte> bytes) {
  for (;;) {
    const ssize_t n = system_calls().read(fd_, bytes.data(), bytes.size());
    if (n >= 0) return n;
    if (errno != EINTR && errno != EAGAIN) throw_file_error("read", name_, errno, exit_);
    pollfd more{fd_, POLLIN, 0};
    ::poll(&more, 1, -1);
  }
}

bool InputFile::hold_more() {
  const size_t size = held_.size();
  held_.resize(size + kPiece);
  held_.resize(size + read_raw(std::as_writable_bytes(span(held_).subspan(size))));
  return held_.size() > size;
}

bool InputFile::compressed() {
  if (!looked_) {
    const auto may_be = [&](string_view magic) {  // too few bytes to tell?
      return held_.size() < magic.size() && magic.starts_with(held_);
    };
    while ((may_be(kGzipMagic) || may_be(kXzMagic)) && hold_more()) {
    }
    if (held_.starts_with(kXzMagic)) refuse("it is packed by xz", "xz -dc FILE | heed ... -");
    if (held_.starts_with(kGzipMagic)) gzip_ = make_unique<Gzip>();
    looked_ = true;
  }
  return gzip_ != nullptr;
}

size_t InputFile::read_some(span<std::byte> bytes) {
  if (!compressed()) {
    if (held_.empty()) return read_raw(bytes);
    const size_t n = min(bytes.size(), held_.size());
    memcpy(bytes.data(), held_.data(), n);
    held_.erase(0, n);
    // A regular file fills `bytes`, even after compressed() has read ahead.
    return size_ > 0 ? n + read_raw(bytes.subspan(n)) : n;
  }
  constexpr const char* kHint = "gzip -t tests such a file";
  z_stream& s = gzip_->stream;
  s.next_out = reinterpret_cast<Bytef*>(bytes.data());
  s.avail_out = bytes.size();
  while (s.avail_out > 0 && (!held_.empty() || hold_more())) {  // as a plain file fills `bytes`
    // Between members; zeros there are padding, which zlib would not skip.
    if (s.total_in == 0) held_.erase(0, held_.find_first_not_of('\0'));
    s.next_in = reinterpret_cast<Bytef*>(held_.data());
    s.avail_in = held_.size();
    const int status = inflate(&s, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw bad_alloc();
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      refuse(fmt::format("it is damaged ({})", s.msg ? s.msg : "its data"), kHint);
    held_.erase(0, held_.size() - s.avail_in);
    if (status == Z_STREAM_END) inflateReset(&s);
  }
  if (s.avail_out > 0 && s.total_in > 0) refuse("it is cut short", kHint);
  return bytes.size() - s.avail_out;
}

void InputFile::rewind() {
  if (system_calls().seek(fd_, 0, SEEK_SET) != 0) throw_file_error("read", name_, errno, exit_);
}

void InputFile::read_exactly(span<std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t n = read_some(bytes);
    if (n == 0) refuse(fmt::format("it ended {} bytes early", bytes.size()));
    bytes = bytes.subspan(n);
  }
}

bool InputFile::append_to(string& text, size_t n) {
  const auto read = [&](string& to) {
    const size_t size = to.size();
    to.resize(size + n);
    to.resize(size + read_some(std::as_writable_bytes(span(to).subspan(size))));
    return to.size() > size;
  };
  if (!may_be_utf16_ && !utf16_) return read(text);
  const size_t size = text.size();
  for (bool more = true; more && text.size() == size;) {
    more = read(undecoded_);
    if (may_be_utf16_) {
      const string_view bytes = undecoded_, mark = bytes.substr(0, 2);
      if (more && bytes.size() < 4 && (bytes[0] == '\xFE' || bytes[0] == '\xFF')) continue;
      may_be_utf16_ = false;
      big_endian_ = mark == "\xFE\xFF";
      utf16_ = big_endian_ || (mark == "\xFF\xFE" && !bytes.starts_with(kUtf32Mark));
      if (utf16_) undecoded_.erase(0, mark.size());
    }
    text += utf16_ ? take_utf16(undecoded_, big_endian_, !more) : exchange(undecoded_, {});
  }
  return text.size() > size;
}

bool InputFile::ready() const {
  pollfd more{fd_, POLLIN, 0};
  return !held_.empty() || ::poll(&more, 1, 0) > 0;
}

string read_file(const fs::path& path, uint64_t limit, InputFile::Allow allow) {
  InputFile file(path, allow);
  return read_file(file, limit);
}

string read_file(InputFile& file, uint64_t limit) {
  string bytes;
  uint64_t size = file.size();
  if (size <= limit) bytes.reserve(size + kPiece);
  while (size <= limit && file.append_to(bytes, kPiece)) size = max<uint64_t>(size, bytes.size());
  if (size <= limit) return bytes;
  file.refuse(fmt::format("it has at least {} bytes, expected at most {}", size, limit));
}

bool InputLines::has_newline() {
  scanned_ = min(bytes_.find('\n', scanned_), bytes_.size());
  return scanned_ < bytes_.size();
}

void InputLines::fill() {
  bytes_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  if (bytes_.size() > longest_)
    file_.refuse(fmt::format("a line has more than {} bytes", longest_));
  // A token takes some 50 bytes in all.
  if (bytes_.size() > asked_) {
    require_memory(100.0 * bytes_.size(), "a line of " + file_.name().string());
    asked_ = bytes_.size() + (1 << 20);
  }
  at_end_ = !file_.append_to(bytes_, kPiece);
}

bool InputLines::ready() {
  while (!has_newline() && !at_end_) {
    if (!file_.ready()) return false;
    fill();
  }
  return true;
}

optional<string> InputLines::next() {
  while (!has_newline() && !at_end_) fill();
  if (begin_ == bytes_.size()) return nullopt;
  ended_ = scanned_ < bytes_.size();
  string line = bytes_.substr(begin_, scanned_ - begin_);
  begin_ = scanned_ = min(scanned_ + 1, bytes_.size());
  return line;
}

StoredInput::StoredInput() : fd_(::memfd_create("standard input", MFD_CLOEXEC)) {
  InputFile input("-", InputFile::Allow::anything);
  std::ofstream file(path(), std::ios::binary);
  for (string block; file && input.append_to(block, 1 << 20); block.clear()) {
    require_memory(kRoom, "standard input");  // it is kept in memory
    file << block;
  }
  if (!file.flush()) throw_file_error("keep", "standard input", errno, Exit::memory);
  if (file.tellp() == 0) throw data_error("standard input is empty; expected text.");
}

StoredInput::~StoredInput() {
  ::close(fd_);
}

string StoredInput::path() const {
  return string(kFolder) + to_string(fd_);
}

string shown_path(const string& path) {
  return path.starts_with(kFolder) ? "standard input" : path;
}

}  // namespace heed
