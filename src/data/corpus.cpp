#include "data/corpus.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/cgroup.h"
#include "base/files.h"
#include "base/format.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/std_names.h"
#include "base/text_kind.h"
#include "base/utf8.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr size_t kBlock = 1 << 20;
constexpr size_t kFirstLook = 4096;  // bytes that tell a text from other files

// Are the bytes of a file that are not UTF-8 more than a few, 0.1 %?
bool too_many_bad(uint64_t bad, uint64_t bytes) {
  return bad > 0 && 1000 * bad >= bytes;
}

// Takes the bytes of a text file, in any parts, and gives them as the text.
class TextFile {
 public:
  TextFile(string name, const ReadOptions& options) : name_(std::move(name)), options_(options) {}

  bool is_empty() const { return empty_; }  // but for a byte order mark

  // Appends the text of `raw` to `text`, and keeps in `raw` what needs more bytes to be told.
  void take(string& raw, string& text, bool at_end) {
    if (in_file_ == 0 && raw.size() < kFirstLook && !at_end) return;
    string_view rest = raw;
    if (in_file_ == 0) {
      if (options_.notes && options_.notes->markup.empty())
        options_.notes->markup = markup_in_words(name_, rest);
      if (!options_.any_bytes)
        if (const string kind = other_kind(rest); !kind.empty()) throw_no_text(name_, kind);
      if (rest.starts_with(kByteOrderMark)) {
        rest.remove_prefix(kByteOrderMark.size());
        in_file_ = in_line_ = kByteOrderMark.size();
      }
    } else if (!options_.any_bytes && rest.find('\0') != string_view::npos) {
      throw_no_text(name_, other_kind(string_view("\0", 1)));
    }
    while (!rest.empty()) {
      const size_t bad = options_.any_bytes ? string_view::npos : find_invalid_utf8(rest);
      text += rest.substr(0, bad);
      skip(rest, min(bad, rest.size()));
      if (rest.empty() || (!at_end && rest.size() < 4)) break;
      take_bad_byte(rest[0], text);
      skip(rest, 1);
    }
    raw.erase(0, raw.size() - rest.size());
    if (at_end && too_many_bad(bad_, in_file_)) throw *first_bad_;
    if (!at_end || is_empty() || last_ == '\n') return;
    text += '\n';
    if (options_.notes) options_.notes->newline_added = true;
  }

 private:
  void skip(string_view& rest, size_t n) {
    const string_view part = rest.substr(0, n);
    lines_ += ranges::count(part, '\n');
    if (options_.notes) options_.notes->carriage_returns += ranges::count(part, '\r');
    if (n > 0) last_ = part.back();
    empty_ = empty_ && n == 0;
    const size_t newline = part.rfind('\n');
    in_line_ = newline == string_view::npos ? in_line_ + n : n - newline - 1;
    in_file_ += n;
    rest.remove_prefix(n);
  }

  void take_bad_byte(unsigned char byte, string& text) {
    Error error(
        Exit::data,
        fmt::format("{}:{}: not valid UTF-8 at byte {} of the line (offset {} in the file): found "
                    "0x{:02X}.",
                    name_, lines_ + 1, in_line_ + 1, in_file_, byte),
        "the file as UTF-8 (iconv -f LATIN1 -t UTF-8, if it is Latin-1), or tokenizer.type byte");
    if (options_.notes == nullptr) throw error;
    if (options_.notes->bad_bytes++ == 0) options_.notes->first_bad = error.text();
    if (bad_++ == 0) first_bad_ = std::move(error);
    text += encode_utf8(kReplacement);
  }

  string name_;
  ReadOptions options_;
  size_t lines_ = 0, in_line_ = 0, in_file_ = 0, bad_ = 0;
  optional<Error> first_bad_;
  char last_ = 0;
  bool empty_ = true;
};

// Where to end a chunk of a text of more than a character: after a newline, else before a space,
// else between characters, as normalisation allows (0: nowhere yet).
size_t chunk_end(string_view text, Normalize normalize) {
  const size_t newline = text.rfind('\n');
  if (newline != text.npos) return newline + 1;
  const size_t space = text.rfind(' ');
  if (space != text.npos && space > 0) return space;
  return normalize == Normalize::none ? utf8_floor(text, text.size() - 1)
                                      : last_normalization_boundary(text);
}

using Sides = vector<string_view>;  // source, target, further targets

// Adds the pair on a line of these files; one with a blank side is counted instead.
void add(Pairs& pairs, const vector<string>& paths, size_t line, const Sides& sides) {
  const auto blank = ranges::find_if(sides, is_blank);
  if (blank != sides.end()) {
    if (pairs.empty++ == 0)
      pairs.first_empty = fmt::format("{}:{}", paths[blank - sides.begin()], line);
    return;
  }
  pairs.source.push_back(sides[0]);
  pairs.target.push_back(sides[1]);
  for (size_t k = 2; k < sides.size(); ++k) pairs.references[k - 2].push_back(sides[k]);
  pairs.lines.push_back(line);
}

// Error unless there is a pair.
Pairs checked(Pairs pairs, const string& path) {
  if (pairs.empty > 0)
    pairs.warnings.push_back(
        fmt::format("left out {} of {} with an empty side, the first: {}", pairs.empty,
                    counted(to_string(pairs.size() + pairs.empty), "pair"), pairs.first_empty));
  if (pairs.size() > 0) return pairs;
  throw data_error("{}: no pair has words on both sides; {}.", path, pairs.warnings.back());
}

// Appends the text of a file of pairs.
void read_file_of(Pairs& pairs, const string& path, ReadOptions options) {
  TextNotes notes;
  options.notes = &notes;
  pairs.texts.push_back(read_text(std::array{path}, options));
  notes.carriage_returns = 0;  // they end lines
  pairs.add(notes.in_words());
  pairs.replaced = pairs.replaced || notes.bad_bytes > 0;
}

}  // namespace

string as_read(string_view text, const ReadOptions& options) {
  string read = normalize(text, options.normalize);
  return options.lowercase ? to_lower(read) : read;
}

vector<string> text_files(const vector<string>& paths) try {
  vector<string> files;
  for (const string& path : paths) {
    if (!is_folder(path)) {
      files.push_back(path);
      continue;
    }
    const size_t before = files.size();
    for (const string& name : names_in(path))
      if (const fs::path file = fs::path(path) / name;
          !name.starts_with('.') && fs::is_regular_file(file, ignored()))
        files.push_back(file);
    if (files.size() == before)
      throw data_error("{}: is a folder without files; expected texts directly in it.", path)
          .hint("a folder with texts");
  }
  return files;
} catch (const Error& e) {
  throw e.as(Exit::data);
}

void refuse_pipe(const string& path) {
  if (fs::is_other(fs::status(path, ignored())))
    throw data_error("{}: is a pipe or a device; expected a file, which can be read again.", path)
        .hint("write its text to a file first");
}

string first_bytes(const string& path) {
  InputFile file(path, InputFile::Allow::text);
  string bytes;
  while (bytes.size() < kBlock && file.append_to(bytes, kBlock - bytes.size())) {
  }
  return bytes;
}

void scan_text(span<const string> paths, const ReadOptions& options,
               const function<void(string_view)>& use) {
  const bool changed = options.lowercase || options.normalize != Normalize::none;
  if (options.notes) *options.notes = {};
  string raw, text;
  const auto flush = [&](size_t end) {
    if (end == 0) return;
    const string_view chunk(text.data(), end);
    changed ? use(as_read(chunk, options)) : use(chunk);
    text.erase(0, end);
  };
  for (const string& path : paths) {
    InputFile file(path, options.form());
    TextFile reader(shown_path(path), options);
    for (bool at_end = false; !at_end;) {
      at_end = !file.append_to(raw, kBlock);
      reader.take(raw, text, at_end);
      if (text.size() >= kBlock) flush(chunk_end(text, options.normalize));
    }
    if (reader.is_empty()) throw data_error("{}: is empty; expected text.", path);
    if (file.utf16() && options.notes) options.notes->utf16.push_back(shown_path(path));
  }
  flush(text.size());
}

Notes TextNotes::in_words() const {
  Notes all;
  if (!utf16.empty())
    all.notes.push_back("read as the same text in UTF-8: " + some_of(utf16) +
                        ", written in UTF-16");
  if (!markup.empty()) all.warnings.push_back(markup);
  if (bad_bytes > 0)
    all.warnings.push_back(fmt::format(
        "{} not in UTF-8 and read as U+FFFD; the first: {} (iconv -f CP1252 -t UTF-8, if "
        "the whole text is Western)",
        counted(format_count(bad_bytes), "byte"), first_bad));
  if (carriage_returns > 0)
    all.notes.push_back(fmt::format("the text has {} (\\r), which stay (tr -d '\\r' drops them)",
                                    counted(format_count(carriage_returns), "carriage return")));
  return all;
}

string read_text(span<const string> paths, const ReadOptions& options) {
  string text;
  scan_text(paths, options, [&](string_view chunk) {
    if (text.size() + chunk.size() > text.capacity())
      require_memory(2.0 * text.capacity(), "the data");
    text += chunk;
  });
  return text;
}

void check_utf8(string_view text, const string& where) {
  if (text.find('\0') != string_view::npos) throw_no_text(where, other_kind(text));
  const size_t bad = find_invalid_utf8(text);
  if (bad == string_view::npos) return;
  throw data_error("{}: not valid UTF-8 at byte {}: found 0x{:02X}.", where, bad + 1,
                   uint8_t(text[bad]));
}

Pairs as_read(const Pairs& written, const ReadOptions& options) {
  Pairs read;
  static_cast<PairFacts&>(read) = written;
  for (const auto side : {&Pairs::source, &Pairs::target})
    for (const string_view line : written.*side)
      (read.*side).push_back(read.texts.emplace_back(as_read(line, options)));
  return read;
}

void require_lines(const string& path, size_t n, const string& other, size_t lines) {
  if (n == lines) return;
  if (n < lines) return require_lines(other, lines, path, n);
  throw data_error("{}:{}: {} has no such line; it has {}.", path, lines + 1, other,
                   counted(to_string(lines), "line"))
      .hint("compare the files with: wc -l, paste");
}

Pairs read_parallel(const string& source_path, const string& target_path,
                    const ReadOptions& options, span<const string> more) {
  Pairs pairs;
  pairs.source_path = source_path;
  pairs.target_path = target_path;
  const auto paths = appended(vector{source_path, target_path}, more);
  for (const string& path : paths) read_file_of(pairs, path, options);
  vector<vector<string_view>> lines;  // of each file
  for (size_t i = 0; i < paths.size(); ++i) {
    lines.push_back(lines_of(pairs.texts[i]));
    require_lines(paths[i], lines[i].size(), source_path, lines[0].size());
  }
  pairs.references.resize(more.size());
  for (size_t i = 0; i < lines[0].size(); ++i)
    add(pairs, paths, i + 1, mapped(lines, [i](const auto& of_file) { return of_file[i]; }));
  return checked(std::move(pairs), source_path);
}

Columns::Columns(const string& written) : written_(written) {
  const auto sides = split(written.empty() ? string_view("1:2") : written, ':');
  bool right = sides.size() == sides_.size();
  for (size_t i = 0; right && i < sides.size(); ++i)
    for (const string_view number : split(sides[i], ',')) {
      sides_[i].push_back(read_number<uint32_t>(number).value_or(0));
      right = right && sides_[i].back() > 0;
    }
  if (!right)
    throw usage_error(
        "data.columns: expected the numbers of the source's columns, a colon and those of the "
        "target's, as 1,3:2; found {}.",
        written);
}

optional<array<string_view, 2>> Columns::of(string_view line, std::deque<string>& memory) const {
  const vector<string_view> cells = split(line, '\t');
  array<string_view, 2> pair;
  if (written_.empty() && cells.size() != 2) return {};
  for (size_t side = 0; side < 2; ++side) {
    vector<string> words;
    for (const size_t column : sides_[side]) {
      if (column > cells.size()) return {};
      words.emplace_back(pair[side] = cells[column - 1]);
    }
    if (words.size() > 1) pair[side] = memory.emplace_back(joined(words, " "));
  }
  return pair;
}

void Columns::refuse(string_view line, const string& name) const {
  const string marks = markup_in_words(name.substr(0, name.rfind(':')), line);
  throw data_error("{}: found {}; expected {}.", name,
                   counted(to_string(split(line, '\t').size()), "column"),
                   written_.empty() ? "a source, a tab and a target" : "those of " + written_)
      .hint(!marks.empty()
                ? marks
                : "heed train and init take --columns 1,3:2 (data.columns), or --like gpt for a "
                  "text; else mend that line; a trained model takes the columns that it learnt: "
                  "cut -f1,2 TABLE > pairs.tsv; two files: --target-file (data.target)");
}

Pairs read_tsv(const string& path, const ReadOptions& options, const string& columns) {
  const Columns chosen(columns);
  Pairs pairs;
  pairs.source_path = pairs.target_path = path;
  read_file_of(pairs, path, options);
  const auto lines = lines_of(pairs.texts[0]);
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto pair = chosen.of(lines[i], pairs.texts);
    if (!pair && !is_blank(lines[i])) chosen.refuse(lines[i], fmt::format("{}:{}", path, i + 1));
    const auto [source, target] = pair.value_or(array<string_view, 2>{});
    add(pairs, {path, path}, i + 1, {source, target});
  }
  return checked(std::move(pairs), path);
}

size_t table_columns(const string& path) {
  const string first = first_bytes(path);
  auto lines = lines_of(first);
  if (first.size() == kBlock) lines.pop_back();  // is cut
  erase_if(lines, is_blank);
  lines.resize(min<size_t>(lines.size(), 1000));
  map<size_t, size_t> counts;  // of lines with so many
  for (const string_view line : lines)
    ++counts[line.starts_with('\t') ? 1 : split(line, '\t').size()];
  for (const auto& [columns, count] : counts)
    if (10 * count >= 9 * lines.size()) return columns;
  return 1;
}

FoundTexts find_texts(const vector<string>& paths, bool any_bytes) {
  FoundTexts found;
  for (const string& path : paths) {
    if (path == "-")
      throw usage_error("- (standard input) stands alone, and only heed train takes it.");
    const bool folder = is_folder(path);
    const size_t before = found.files.size();
    for (const string& file : text_files({path})) {
      refuse_pipe(file);
      const string first = first_bytes(file);
      const string kind = first.empty() ? "empty" : any_bytes ? "" : other_kind(first);
      if (!kind.empty() && !folder) throw_no_text(shown_path(file), kind);
      (kind.empty() ? found.files : found.left_out).push_back(file);
    }
    if (!folder) continue;
    if (const string model = other_program(path);
        !model.empty() &&
        (found.files.size() == before || path_exists(fs::path(path) / "config.json")))
      throw_other_program(path, model, Exit::data);
    if (found.files.size() == before)
      throw data_error("{}: is a folder without text files; expected some directly in it.", path)
          .hint("texts in UTF-8; folders in it by their names");
    for (const string& name : names_in(path))
      if (const fs::path inner = fs::path(path) / name; !name.starts_with('.') && is_folder(inner))
        found.left_out.push_back(inner / "");
  }
  return found;
}

void check_writable(const string& path) {
  if (find_invalid_utf8(path) != string::npos)
    throw usage_error("{}: this path is not valid UTF-8, so a config cannot name it.",
                      printable(path))
        .hint("another name for the file or folder; or a link elsewhere");
}

TextFacts text_facts(span<const string> files) {
  TextFacts facts;
  vector<uint64_t> counts(0x110000);  // of each code point
  for (const string& file : files) {
    uint64_t size = 0, bad = 0, &lines = facts.lines.emplace_back();
    scan_text({&file, 1}, {.any_bytes = true, .decoded = true}, [&](string_view text) {
      each_code_point(text, [&](CodePoint c, size_t at) {
        if (c.value == kInvalidCodePoint) {
          ++bad;
          if (facts.first_bad.empty())
            facts.first_bad = fmt::format("{}:{} (offset {} in the file)", shown_path(file),
                                          lines + 1, size + at);
          c.value = kReplacement;
        }
        if (c.value == '\n') ++lines;
        ++counts[c.value];
      });
      size += text.size();
    });
    facts.bytes += size;
    if (too_many_bad(bad, size)) facts.bad_files.push_back(shown_path(file));
  }
  erase(counts, 0);
  ranges::sort(counts, greater<>());
  facts.distinct = counts.size();
  for (const uint64_t n : counts) facts.characters += n;
  uint64_t covered = 0;
  for (; covered < 0.99995 * facts.characters; ++facts.common) covered += counts[facts.common];
  return facts;
}

}  // namespace heed
