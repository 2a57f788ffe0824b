// Reading corpora: one text (files, one after the other), or sentence pairs (two files of parallel
// lines, or one TSV file). gzip is unpacked. One rule for all of them: a byte order mark at
// the start of a file is dropped, and one of UTF-16 tells how to read it; each file is a text of
// its own, so one that ends without a newline gets one; in lines and pairs a \r before the \n
// belongs to the line end, in a text every character stays; NULs are refused. Nothing is printed.
// The memory used is about the texts' size. Errors (Exit::data) name the file and the line if there
// is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/data_config.h"

namespace heed {

// What was noticed in texts that were read.
struct TextNotes {
  std::string markup;           // says that a file has marks, the first
  std::uint64_t bad_bytes = 0;  // that are not UTF-8
  std::string first_bad;        // the first one's message
  std::uint64_t carriage_returns = 0;
  bool newline_added = false;         // to a file that ended without one
  std::vector<std::string> utf16;     // files in UTF-16
  std::vector<std::uint64_t> begins;  // where each file begins in the text; not quite if normalised

  // Appends sentences for the log.
  void say(std::vector<std::string>& notes, std::vector<std::string>& warnings) const;
};

// Says that these are in UTF-16.
std::string utf16_in_words(const std::vector<std::string>& names);

struct ReadOptions {
  bool any_bytes = false;                 // tokenizer `byte`: invalid UTF-8 is data
  bool lowercase = false;                 // data.lowercase
  Normalize normalize = Normalize::none;  // data.normalize
  // A few bad bytes are read as U+FFFD, each, and counted here; null: they are an Error.
  TextNotes* notes = nullptr;
  bool decoded = false;  // any_bytes, but UTF-16 is read as UTF-8 all the same
};

// Are the bytes of a file that are not UTF-8 more than a few, 0.1 %? Then it is an Error.
inline bool too_many_bad(std::uint64_t bad, std::uint64_t bytes) {
  return bad > 0 && 1000 * bad >= bytes;
}

// A text as models read it: normalised, then lower-cased.
std::string as_read(std::string_view text, const ReadOptions& options);

// The text files that paths name; a folder stands for the regular files directly in it, sorted by
// name, without hidden ones. Error if it has none.
std::vector<std::string> text_files(const std::vector<std::string>& paths);

// The beginning of a file: at most a megabyte, unpacked; "" if it is empty. Errors as scan_text().
std::string first_bytes(const std::string& path);

// Calls use(chunk) for successive parts of the concatenated files, each part at most about 1 MB and
// cut after a newline if it has one, else before a space, else between characters (that normalise
// apart). Memory: a chunk.
// Errors: no such file, a directory, unreadable, empty (a file of no bytes), invalid UTF-8 (file,
// line, byte in the line).
void scan_text(std::span<const std::string> paths, const ReadOptions& options,
               const std::function<void(std::string_view)>& use);

// The concatenated files as one string.
std::string read_text(std::span<const std::string> paths, const ReadOptions& options);

// Where pairs are from, and what was noticed.
struct PairFacts {
  std::string source_path, target_path;      // of a TSV file: twice its path
  std::vector<std::size_t> lines;            // of each pair in its file, from 1
  std::size_t empty = 0;                     // pairs left out, because a side has no word
  std::string first_empty;                   // "a.tsv:12"
  bool replaced = false;                     // bytes that are not UTF-8
  std::vector<std::string> notes, warnings;  // for the log
};

// Sentence i of one side stands for sentence i of the other. The views point into memory that the
// Pairs own; moving keeps them valid.
struct Pairs : PairFacts {
  Pairs() = default;
  Pairs(Pairs&&) noexcept = default;
  Pairs& operator=(Pairs&&) noexcept = default;

  std::size_t size() const { return source.size(); }
  std::vector<std::string> files;
  std::vector<std::string_view> source, target;
  std::vector<std::vector<std::string_view>> references;  // further targets: those of each file
};

// Pairs as written (read without options), as a model reads them, without `references`.
Pairs as_read(const Pairs& written, const ReadOptions& options);

// `more`: files with further targets. Errors: as above; different numbers of lines.
Pairs read_parallel(const std::string& source_path, const std::string& target_path,
                    const ReadOptions& options, std::span<const std::string> more = {});
// Error (data), which names the first line too many, unless `path` has `n` lines as `other` has.
void require_lines(const std::string& path, std::size_t n, const std::string& other,
                   std::size_t lines);
// One pair a line: source, one tab, target. Errors: as above; not exactly one tab.
Pairs read_tsv(const std::string& path, const ReadOptions& options);

// How many of n pairs are for training if the last `valid_fraction` is held out: floor(n * (1-f)).
std::size_t split_pairs(std::size_t n, double valid_fraction);

// Error (data) naming `where` (say, "prompt") unless the text is valid UTF-8 without NULs.
void check_utf8(std::string_view text, const std::string& where);

}  // namespace heed
