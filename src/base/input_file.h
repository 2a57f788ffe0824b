// Reading bytes from a regular file, a pipe, a terminal or standard input.
//
// With Allow::anything and Allow::text, gzip is unpacked while reading; a damaged or truncated
// file is an Error, and so is xz. Allow::text also reads UTF-16 that begins with its mark, as
// UTF-8.
//
// Every function throws Error with the path and the system's reason: Exit::data with
// Allow::anything and Allow::text, else Exit::store.
// Interrupted calls (EINTR) are repeated; reads of a non-blocking standard input (EAGAIN) wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/std_names.h"

namespace heed {

struct Gzip;

class InputFile {
 public:
  enum class Allow {
    file,      // a regular file; no symbolic link, folder, pipe or device
    link,      // a regular file or a link to one
    anything,  // pipes, terminals, devices too; "-" is standard input; unpacked
    text,      // the same, in UTF-8
  };
  explicit InputFile(const fs::path& path, Allow allow = Allow::file);
  ~InputFile();
  InputFile& operator=(InputFile&&) = delete;  // nor copied

  const fs::path& name() const { return name_; }
  // Error: it cannot be read, because of this.
  [[noreturn]] void refuse(const string& what, const string& hint = "") const;
  // On disk when opened; 0 for pipes and devices.
  uint64_t size() const { return size_; }
  bool utf16() const { return utf16_; }  // what append_to() has read is in UTF-16
  void rewind();  // back to the first byte; only with Allow::file and Allow::link
  // Fills `bytes`; Error if the file ends early.
  void read_exactly(span<std::byte> bytes);
  // Appends the available bytes, at most n (of UTF-16, before it is decoded); waits for the first.
  // False at the end.
  bool append_to(string& text, size_t n);
  bool ready() const;  // append_to() will not wait

 private:
  size_t read_raw(span<std::byte> bytes);
  size_t read_some(span<std::byte> bytes);
  bool compressed();  // waits for the first bytes
  bool hold_more();   // false at the end

  fs::path name_;
  Exit exit_;
  int fd_ = -1;
  uint64_t size_ = 0;
  bool looked_;  // the first bytes have been seen, or do not matter
  string held_;  // read from the file, not yet handed out or unpacked
  bool may_be_utf16_, utf16_ = false, big_endian_ = false;
  string undecoded_;
  unique_ptr<Gzip> gzip_;
};

// All bytes, at most `limit`.
string read_file(InputFile& file, uint64_t limit);
string read_file(const fs::path& path, uint64_t limit,
                 InputFile::Allow allow = InputFile::Allow::file);

// The lines of an InputFile, in order.
class InputLines {
 public:
  // Error on a line longer than about `longest` bytes; Error (memory) on one that is too long for
  // what will be made of it.
  explicit InputLines(const fs::path& path, InputFile::Allow allow = InputFile::Allow::file,
                      size_t longest = string::npos)
      : file_(path, allow), longest_(longest) {}

  // Waits for the next line, without its \n; nullopt at the end.
  optional<string> next();
  bool ready();                          // next() will not wait
  bool ended() const { return ended_; }  // the last line had its \n

 private:
  bool has_newline();  // from begin_ on
  void fill();         // waits for more bytes, or the end

  InputFile file_;
  size_t longest_;
  string bytes_;            // read so far; not yet returned from begin_ on
  size_t asked_ = 1 << 20;  // for so many bytes there is memory
  size_t begin_ = 0;        // of the next line
  size_t scanned_ = 0;      // no \n between begin_ and here
  bool at_end_ = false, ended_ = true;
};

// Standard input as a file in memory, so that its path can be read more than once.
class StoredInput {
 public:
  // Reads standard input to its end. Error (data) if it cannot be read or is empty; Error
  // (memory) if it does not fit.
  StoredInput();
  ~StoredInput();
  StoredInput& operator=(StoredInput&&) = delete;  // nor copied

  string path() const;  // valid while this object lives

 private:
  int fd_;
};

// The name of an input in messages: "standard input" for the path() of a StoredInput.
string shown_path(const string& path);

}  // namespace heed
