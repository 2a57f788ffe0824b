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
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_file.h"
#include "base/log.h"
#include "base/std_names.h"
#include "config/data_config.h"

namespace heed {

// What was noticed in texts that were read.
struct TextNotes {
  string markup;           // says that a file has marks, the first
  uint64_t bad_bytes = 0;  // that are not UTF-8
  string first_bad;        // the first one's message
  uint64_t carriage_returns = 0;
  bool newline_added = false;  // to a file that ended without one
  vector<string> utf16;        // files in UTF-16

  Notes in_words() const;
};

struct ReadOptions {
  bool any_bytes = false;                 // tokenizer `byte`: invalid UTF-8 is data
  bool lowercase = false;                 // data.lowercase
  Normalize normalize = Normalize::none;  // data.normalize
  // A few bad bytes, less than 0.1 %, are read as U+FFFD, each, and counted here; null: they are an
  // Error.
  TextNotes* notes = nullptr;
  bool decoded = false;  // any_bytes, but UTF-16 is read as UTF-8 all the same

  InputFile::Allow form() const {  // in which files are opened
    return any_bytes && !decoded ? InputFile::Allow::anything : InputFile::Allow::text;
  }
};

// A text as models read it: normalised, then lower-cased.
string as_read(string_view text, const ReadOptions& options);

// The text files that paths name; a folder stands for the regular files directly in it, sorted by
// name, without hidden ones. Error if it has none.
vector<string> text_files(const vector<string>& paths);

// Error (data) on a pipe or a device: data is read more than once.
void refuse_pipe(const string& path);

// The beginning of a file: at most a megabyte, unpacked; "" if it is empty. Errors as scan_text().
string first_bytes(const string& path);

// Calls use(chunk) for successive parts of the concatenated files, each part at most about 1 MB and
// cut after a newline if it has one, else before a space, else between characters. Memory: a
// chunk.
// Errors: no such file, a directory, unreadable, empty (a file of no bytes), invalid UTF-8 (file,
// line, byte in the line).
void scan_text(span<const string> paths, const ReadOptions& options,
               const function<void(string_view)>& use);

// The concatenated files as one string.
string read_text(span<const string> paths, const ReadOptions& options);

// Where pairs are from, and what was noticed.
struct PairFacts : Notes {
  string source_path, target_path;  // of a TSV file: twice its path
  vector<size_t> lines;             // of each pair in its file, from 1
  size_t empty = 0;                 // pairs left out, because a side has no word
  string first_empty;               // "a.tsv:12"
  bool replaced = false;            // bytes that are not UTF-8
};

// Sentence i of one side stands for sentence i of the other. The views point into memory that the
// Pairs own; moving keeps them valid.
struct Pairs : PairFacts {
  Pairs() = default;
  Pairs(Pairs&&) = default;
  Pairs& operator=(Pairs&&) = default;

  size_t size() const { return source.size(); }
  std::deque<string> texts;
  vector<string_view> source, target;
  vector<vector<string_view>> references;  // further targets: those of each file
};

// Pairs as written (read without options), as a model reads them, without `references`.
Pairs as_read(const Pairs& written, const ReadOptions& options);

// `more`: files with further targets. Errors: as above; different numbers of lines.
Pairs read_parallel(const string& source_path, const string& target_path,
                    const ReadOptions& options, span<const string> more = {});
// Error (data), which names the first line too many, unless `path` has `n` lines as `other` has.
void require_lines(const string& path, size_t n, const string& other, size_t lines);
// The columns of a table (data.columns) that are source and target: "1,3:2"; "" for a line that has
// these two alone. Error (usage) on anything else.
class Columns {
 public:
  explicit Columns(const string& written);
  // Source and target of a line; nothing if it lacks columns. What several make lives in `memory`.
  optional<array<string_view, 2>> of(string_view line, std::deque<string>& memory) const;

  // Error (data): the line `name` lacks them.
  [[noreturn]] void refuse(string_view line, const string& name) const;

 private:
  string written_;
  array<vector<size_t>, 2> sides_;
};
// One pair a line: source, one tab, target; or the data.columns of a table. Errors: as above; other
// columns.
Pairs read_tsv(const string& path, const ReadOptions& options, const string& columns = "");

// The columns that nine of ten of the first lines of a file have; 1 if there are no such, or if
// lines are indented.
size_t table_columns(const string& path);

// Error (data) naming `where` (say, "prompt") unless the text is valid UTF-8 without NULs.
void check_utf8(string_view text, const string& where);

// The texts that a user names on the command line, before there is a config.
struct FoundTexts {
  vector<string> files;
  vector<string> left_out;  // in folders: other files, and subfolders ("a/b/")
};

// The named files; for a folder, the texts directly in it. A file whose beginning has zero bytes or
// is mostly not UTF-8 is not a text, unless any_bytes. Error (data) on a named file that is not a
// text, or a folder without any.
FoundTexts find_texts(const vector<string>& paths, bool any_bytes);

// Error (usage) if a config cannot write this path, because it is not UTF-8.
void check_writable(const string& path);

struct TextFacts {
  uint64_t bytes = 0;
  vector<string> bad_files = {};  // with too many bytes that are not UTF-8; each is a U+FFFD here
  string first_bad = "";          // where: "a.txt:3 (offset 70 in the file)"
  vector<uint64_t> lines = {};    // of each file
  uint64_t characters = 0;        // code points
  int distinct = 0;               // different ones
  int common = 0;                 // the most frequent ones that make up 99.995 % of the text
};

// Reads the files once. Memory: a chunk. Errors as scan_text(), except invalid UTF-8.
TextFacts text_facts(span<const string> files);

}  // namespace heed
