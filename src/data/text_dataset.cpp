// A text as ids: cut into the part for training and the part held out; declared in dataset.h.
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/sha256.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "data/dataset.h"
#include "data/objective.h"
#include "text/tokenizer_trainer.h"
#include "text/utf8.h"

namespace heed {
namespace {

vector<string> resolved(const vector<string>& paths, const string& folder) {
  return text_files(mapped(paths, [&](const string& p) { return resolve_path(folder, p); }));
}

// Bytes [0, training) of a text are for training, those from held_out on are held out. data.limit
// does not move held_out, so the held-out text stays the same.
struct Cuts {
  uint64_t training, held_out;
  uint64_t characters = 0;  // of the text, if they were counted
};
constexpr Cuts kUncut{~uint64_t{0}, ~uint64_t{0}};
enum class Part { training, left_out, held_out };

constexpr size_t kLineEnd = 1'000;  // bytes to the line end at which a text is cut, at most

// Where to cut near byte `at` of a chunk of scan_text(): after the next line end; if that is too
// far, or the text's `last` byte, before the next white space; else before the character. (Any
// bytes: at a line end or at `at`.)
size_t cut_near(size_t at, string_view chunk, size_t last, bool any_bytes) {
  if (at == 0 || chunk[at - 1] == '\n') return at;
  chunk = chunk.substr(0, at + kLineEnd);
  const size_t line = chunk.find('\n', at);
  if (line != string_view::npos && line != last) return line + 1;
  if (any_bytes) return at;
  const size_t character = utf8_floor(chunk, at);
  for (size_t i = character; i < chunk.size();) {
    const CodePoint c = code_point_at(chunk, i);
    if (is_space(c.value) && c.value != '\n') return i;
    i += c.length;
  }
  return character;
}

Cuts cuts_of(const RunConfig& c, const vector<string>& paths) {
  if (c.data.valid_fraction == 0 && c.data.limit == 0 && !is_char_or_byte(c.tokenizer.type))
    return kUncut;  // the size is not needed; it takes a pass
  TextNotes notes;
  ReadOptions options = read_options(c);
  options.notes = &notes;
  uint64_t size = 0, characters = 0;
  scan_text(paths, options, [&](string_view s) {
    size += s.size();
    characters += ranges::count_if(s, [](char b) { return (b & 0xC0) != 0x80; });
  });
  Cuts cuts{size, size, options.any_bytes ? size : characters};
  if (c.data.valid_fraction > 0) cuts.held_out = size * (1.0 - c.data.valid_fraction);
  const uint64_t limit = c.data.limit;
  cuts.training = limit > 0 ? min(limit, cuts.held_out) : cuts.held_out;
  if (cuts.training == size) return cuts;
  const Cuts wanted = cuts;
  uint64_t begin = 0;
  scan_text(paths, options, [&](string_view s) {
    const uint64_t end = begin + s.size();
    const auto move = [&](uint64_t& cut, uint64_t at, uint64_t last) {
      if (begin <= at && at < end)
        cut = begin + cut_near(at - begin, s, last - begin, options.any_bytes);
    };
    move(cuts.held_out, wanted.held_out, size - 1);
    move(cuts.training, wanted.training, wanted.training < wanted.held_out ? size : size - 1);
    begin = end;
  });
  cuts.training = min(cuts.training, cuts.held_out);
  return cuts;
}

[[noreturn]] void throw_too_short(size_t tokens) {
  throw data_error("the training text is too short: {}.", counted(to_string(tokens), "token"))
      .hint("more text, a larger data.limit or a smaller data.valid_fraction");
}

// Calls use(text, part) for the text in pieces, cut between the parts.
template <class Use>
void scan_parts(const RunConfig& c, const vector<string>& paths, const Cuts& cuts, TextNotes& notes,
                Use&& use) {
  ReadOptions options = read_options(c);
  options.notes = &notes;
  uint64_t at = 0;
  scan_text(paths, options, [&](string_view s) {
    const auto place = [&](uint64_t cut) -> size_t {
      return at >= cut ? 0 : min<uint64_t>(s.size(), cut - at);
    };
    const size_t training = place(cuts.training), held_out = place(cuts.held_out);
    const auto part = [&](size_t begin, size_t end, Part which) {
      if (begin < end) use(s.substr(begin, end - begin), which);
    };
    part(0, training, Part::training);
    part(training, held_out, Part::left_out);
    part(held_out, s.size(), Part::held_out);
    at += s.size();
  });
}

// A tokenizer is learnt from the part for training, and knows the characters of the part held out,
// which may be `valid` files.
void show_text(TokenizerTrainer& trainer, const RunConfig& c, const vector<string>& paths,
               const Cuts& cuts, const vector<string>& valid) {
  TextNotes notes;
  uint64_t bytes = 0;
  bool lines = false;
  scan_parts(c, paths, cuts, notes, [&](string_view s, Part part) {
    if (part == Part::held_out) trainer.add_held_out(s);
    if (part != Part::training) return;
    trainer.add(s);
    bytes += s.size();
    lines = lines || s.find('\n') != string_view::npos;
  });
  if (bytes < 2) throw_too_short(bytes);
  if (!lines && notes.newline_added) trainer.add("\n");  // known where the text ends, too
  scan_parts(c, valid, kUncut, notes, [&](string_view s, Part) { trainer.add_held_out(s); });
}

// Both parts as ids, and the hash of the text.
void read_parts(const RunConfig& c, const vector<string>& paths, const Cuts& cuts,
                const Tokenizer& tokenizer, Dataset& d) {
  d.train = d.valid = Split(tokenizer.size(), tokenizer.size());
  if (is_char_or_byte(c.tokenizer.type))  // the others give far fewer ids than bytes
    d.train.target.reserve(min(cuts.training, cuts.characters));
  TextToIds training_ids(tokenizer);
  optional<TextToIds> held_out_ids;
  char before = '\n';     // the part held out
  bool replaced[2] = {};  // a bad byte, in the part held out; in that for training
  Sha256 hash;
  TextNotes notes;
  scan_parts(c, paths, cuts, notes, [&](string_view s, Part part) {
    hash.update(s);
    if (part != Part::held_out) before = s.back();
    if (part == Part::left_out) return;
    const bool training = part == Part::training;
    Split& split = training ? d.train : d.valid;
    if (!training && !held_out_ids) held_out_ids.emplace(tokenizer, before != '\n');
    (training ? training_ids : *held_out_ids).take(s, split, split.target);
    split.target_bytes += s.size();
    split.facts.add(s);
    replaced[training] = replaced[training] || s.find("\uFFFD") != s.npos;
  });
  d.hash.data = hash.hex();
  for (const bool training : {false, true}) {
    Split& s = training ? d.train : d.valid;
    const bool exact = training ? training_ids.exact() : !held_out_ids || held_out_ids->exact();
    s.lossy = c.data.changes_text() || s.unknown.count > 0 || !exact ||
              (replaced[training] && notes.bad_bytes > 0);
    if (!exact)
      s.notes.push_back(
          "the tokens do not give back the text exactly: there may be no bits per byte");
  }
  d.train.add(notes.in_words());
}

}  // namespace

Dataset load_text_dataset(const RunConfig& c, const string& folder, Tokenizers& tokenizers) {
  const auto paths = resolved(c.data.train.paths, folder);
  const auto valid =
      c.data.has_valid_files() ? resolved(c.data.valid.paths, folder) : vector<string>();
  const Cuts cuts = cuts_of(c, paths);
  Dataset d;
  if (!tokenizers.target)
    tokenizers.target = make_tokenizer(c, c.tokenizer, folder, d, [&](TokenizerTrainer& trainer) {
      show_text(trainer, c, paths, cuts, valid);
    });
  read_parts(c, paths, cuts, *tokenizers.target, d);
  if (!valid.empty()) {
    Dataset other;
    read_parts(c, valid, kUncut, *tokenizers.target, other);
    d.valid = std::move(other.train);
    d.hash.valid = other.hash.data;
  }
  if (d.train.target.size() < 2) throw_too_short(d.train.target.size());
  if (c.data.has_validation() && d.valid.target.size() == 0)
    throw data_error("the validation part is empty: the text is too short for data.valid_fraction.")
        .hint("--set data.valid_fraction=0");
  return d;
}

Split load_text(const vector<string>& paths, const RunConfig& c, const Tokenizers& tokenizers) {
  Dataset d;
  read_parts(c, text_files(paths), kUncut, *tokenizers.target, d);
  return std::move(d.train);
}

}  // namespace heed
