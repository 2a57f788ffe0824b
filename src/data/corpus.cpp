#include "data/corpus.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/input_file.h"
#include "base/stored_input.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kBlock = 1 << 20;

InputFile open_text(const std::string& path) {
  std::error_code none;
  const fs::file_type type = path == "-" ? fs::file_type::none : fs::status(path, none).type();
  if (type == fs::file_type::not_found)
    throw Error(Exit::data, path + ": no such file.", "check the path");
  if (type == fs::file_type::directory)
    throw Error(Exit::data, path + ": is a directory; expected a text file.", "name a file in it");
  return InputFile(path, InputFile::Allow::anything, Exit::data);
}

// Counts lines through a file read in blocks, to report where a bad byte is.
class Utf8Checker {
 public:
  explicit Utf8Checker(const std::string& path) : path_(path) {}

  // Checks text[from..] and returns where the valid part ends. Before the end of the file up to
  // three bytes may remain: the start of a character.
  std::size_t check(std::string_view text, std::size_t from, bool at_end) {
    const std::size_t bad = find_invalid_utf8(text.substr(from));
    const std::size_t end = bad == std::string_view::npos ? text.size() : from + bad;
    const std::string_view good = text.substr(from, end - from);
    lines_ += static_cast<std::size_t>(std::count(good.begin(), good.end(), '\n'));
    const std::size_t newline = good.rfind('\n');
    in_line_ =
        newline == std::string_view::npos ? in_line_ + good.size() : good.size() - newline - 1;
    in_file_ += good.size();
    if (end == text.size() || (!at_end && text.size() - end < 4)) return end;
    throw Error(Exit::data,
                fmt::format("{}:{}: not valid UTF-8 at byte {} of the line (offset {} in the "
                            "file): found 0x{:02X}.",
                            path_, lines_ + 1, in_line_ + 1, in_file_,
                            static_cast<unsigned char>(text[end])),
                "convert the file to UTF-8 (iconv -t UTF-8), or use tokenizer.type \"byte\"");
  }

 private:
  std::string path_;
  std::size_t lines_ = 0, in_line_ = 0, in_file_ = 0;
};

// Where to end a chunk of text[0, end): after a newline, else before a space, else between
// characters, as normalisation allows (0: nowhere yet).
std::size_t chunk_end(std::string_view text, std::size_t end, Normalize normalize) {
  const std::string_view whole = text.substr(0, end);
  const std::size_t newline = whole.rfind('\n');
  if (newline != std::string_view::npos) return newline + 1;
  const std::size_t space = whole.rfind(' ');
  if (space != std::string_view::npos && space > 0) return space;
  if (normalize != Normalize::none) return last_normalization_boundary(text, end);
  return end == text.size() && end > 0 ? utf8_floor(text, end - 1) : utf8_floor(text, end);
}

// The visible files of a folder.
std::vector<std::string> files_in(const std::string& path) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    if (std::error_code none;
        !entry->path().filename().string().starts_with('.') && entry->is_regular_file(none))
      files.push_back(entry->path().string());
  if (error) throw_file_error("list", path, error.value(), Exit::data);
  if (files.empty())
    throw Error(Exit::data, path + ": is a folder without files; expected texts directly in it.");
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::string as_read(std::string_view text, const ReadOptions& options) {
  std::string read = normalize(text, options.normalize);
  return options.lowercase ? to_lower(read) : read;
}

std::vector<std::string> text_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths)
    if (std::error_code none; !fs::is_directory(path, none))
      files.push_back(path);
    else
      std::ranges::move(files_in(path), std::back_inserter(files));
  return files;
}

std::string first_bytes(const std::string& path) {
  InputFile file = open_text(path);
  std::string bytes;
  while (bytes.size() < kBlock && file.append_to(bytes, kBlock - bytes.size())) {
  }
  return bytes;
}

std::uint64_t text_size(std::span<const std::string> paths, const ReadOptions& options) {
  std::uint64_t size = 0;
  const auto scan = [&](std::span<const std::string> some) {
    scan_text(some, options, [&](std::string_view s) { size += s.size(); });
  };
  if (options.lowercase || options.normalize != Normalize::none) {
    scan(paths);
    return size;
  }
  for (const std::string& path : paths) {
    InputFile file = open_text(path);
    file.compressed() ? scan(std::span(&path, 1)) : void(size += file.size());
  }
  return size;
}

void scan_text(std::span<const std::string> paths, const ReadOptions& options,
               const std::function<void(std::string_view)>& use) {
  const bool changed = options.lowercase || options.normalize != Normalize::none;
  std::string buffer;
  const auto flush = [&](std::size_t end) {
    if (end == 0) return;
    const std::string_view chunk(buffer.data(), end);
    changed ? use(as_read(chunk, options)) : use(chunk);
    buffer.erase(0, end);
  };
  for (const std::string& path : paths) {
    InputFile file = open_text(path);
    Utf8Checker checker(shown_path(path));
    std::size_t valid = buffer.size();  // what an earlier file left is checked
    bool empty = true;
    while (true) {
      const bool at_end = !file.append_to(buffer, kBlock);
      valid = options.any_bytes ? buffer.size() : checker.check(buffer, valid, at_end);
      if (at_end) break;
      empty = false;
      if (valid < kBlock) continue;
      const std::size_t end = chunk_end(buffer, valid, options.normalize);
      flush(end);
      valid -= end;
    }
    if (empty) throw Error(Exit::data, path + ": is empty; expected text.");
  }
  flush(buffer.size());
}

std::string read_text(std::span<const std::string> paths, const ReadOptions& options) {
  std::string text;
  std::error_code none;
  for (const std::string& path : paths)  // a hint only
    if (const auto size = fs::file_size(path, none); !none) text.reserve(text.capacity() + size);
  scan_text(paths, options, [&](std::string_view chunk) { text += chunk; });
  return text;
}

void check_utf8(std::string_view text, const std::string& where) {
  const std::size_t bad = find_invalid_utf8(text);
  if (bad == std::string_view::npos) return;
  throw Error(Exit::data, fmt::format("{}: not valid UTF-8 at byte {}: found 0x{:02X}.", where,
                                      bad + 1, static_cast<unsigned char>(text[bad])));
}

}  // namespace heed
