
#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "data/data_files.h"
#include "data/dataset.h"
#include "data/objective.h"
#include "text/tokenizer_trainer.h"

namespace heed {
namespace {

std::vector<std::string> resolved(const std::vector<std::string>& paths, const std::string& folder,
                                  const char* key) {
  std::vector<std::string> r;
  for (const std::string& p : paths) r.push_back(data_path(folder, key, p));
  return text_files(r);
}

// The tokenizers with an id per character; the others give far fewer ids than bytes.
bool has_an_id_per_character(const RunConfig& c) {
  return c.tokenizer.type == TokenizerConfig::char_ || c.tokenizer.type == TokenizerConfig::byte;
}

// Bytes [0, training) of a text are for training, those from held_out on are held out. data.limit
// does not move held_out, so the held-out text stays the same.
struct Cuts {
  std::uint64_t training, held_out;
};
enum class Part { training, left_out, held_out };

Cuts cuts_of(const RunConfig& c, const std::vector<std::string>& paths) {
  if (c.data.valid_fraction == 0 && c.data.limit == 0 && !has_an_id_per_character(c))
    return {~std::uint64_t{0}, ~std::uint64_t{0}};  // the size is not needed; it may take a pass
  const std::uint64_t size = text_size(paths, read_options(c));
  Cuts cuts{size, size};
  if (c.data.valid_fraction > 0)
    cuts.held_out =
        static_cast<std::uint64_t>(static_cast<double>(size) * (1.0 - c.data.valid_fraction));
  const auto limit = static_cast<std::uint64_t>(c.data.limit);
  cuts.training = limit > 0 ? std::min(limit, cuts.held_out) : cuts.held_out;
  return cuts;
}

[[noreturn]] void throw_too_short(const RunConfig& c, const Cuts& cuts, std::size_t tokens) {
  const bool limited = cuts.training < cuts.held_out;
  throw Error(
      Exit::data,
      fmt::format("the training text is too short: {}{}.", counted(std::to_string(tokens), "token"),
                  limited                     ? " within data.limit"
                  : c.data.valid_fraction > 0 ? " after holding out data.valid_fraction"
                                              : ""),
      limited ? "a larger data.limit" : "more text");
}

// Calls use(text, part) for the text in pieces, cut between the parts (before a character).
template <class Use>
void scan_parts(const RunConfig& c, const std::vector<std::string>& paths, const Cuts& cuts,
                Use&& use) {
  const ReadOptions options = read_options(c);
  std::uint64_t at = 0;
  scan_text(paths, options, [&](std::string_view s) {
    const auto place = [&](std::uint64_t cut) {
      const std::size_t left = at >= cut ? 0 : std::min<std::uint64_t>(s.size(), cut - at);
      return options.any_bytes ? left : utf8_floor(s, left);
    };
    const std::size_t training = place(cuts.training), held_out = place(cuts.held_out);
    const auto part = [&](std::size_t begin, std::size_t end, Part which) {
      if (begin < end) use(s.substr(begin, end - begin), which);
    };
    part(0, training, Part::training);
    part(training, held_out, Part::left_out);
    part(held_out, s.size(), Part::held_out);
    at += s.size();
  });
}

// Separate files, all of one part.
Split read_whole(const std::vector<std::string>& paths, const RunConfig& c,
                 const Tokenizers& tokenizers, Sha256& hash) {
  Split s(1, tokenizers.target->size());
  scan_text(paths, read_options(c), [&](std::string_view text) {
    hash.update(text);
    encode_text(text, *tokenizers.target, s, s.target);
    s.target_bytes += text.size();
  });
  s.lossy = c.data.changes_text() || s.unknown.count > 0;
  return s;
}

}  // namespace

Dataset load_text_dataset(const RunConfig& c, const std::string& folder, Tokenizers& tokenizers) {
  const auto paths = resolved(c.data.train.paths, folder, "train");
  const Cuts cuts = cuts_of(c, paths);
  Dataset d;
  if (!tokenizers.target) {
    TokenizerTrainer trainer(c.tokenizer, further_specials(c), c.seed);
    bool any = false;
    scan_parts(c, paths, cuts, [&](std::string_view s, Part part) {
      if (part != Part::training) return;
      trainer.add(s);
      any = true;
    });
    if (!any) throw_too_short(c, cuts, 0);
    TrainedTokenizer t = trainer.finish();
    tokenizers.target = std::move(t.tokenizer);
    d.notes.push_back(t.note);
  }
  const int vocab = tokenizers.target->size();
  d.train = Split(vocab, vocab);
  d.valid = Split(vocab, vocab);
  if (has_an_id_per_character(c)) d.train.target.reserve(cuts.training);
  Sha256 hash;
  scan_parts(c, paths, cuts, [&](std::string_view s, Part part) {
    hash.update(s);
    if (part == Part::left_out) return;
    Split& split = part == Part::training ? d.train : d.valid;
    encode_text(s, *tokenizers.target, split, split.target);
    split.target_bytes += s.size();
  });
  d.hash.data = hash.hex();
  if (c.data.has_valid_files()) {
    Sha256 of_valid;
    d.valid = read_whole(resolved(c.data.valid.paths, folder, "valid"), c, tokenizers, of_valid);
    d.hash.valid = of_valid.hex();
  }
  for (Split* s : {&d.train, &d.valid}) s->lossy = c.data.changes_text() || s->unknown.count > 0;
  if (d.train.target.size() < 2) throw_too_short(c, cuts, d.train.target.size());
  if (c.data.has_validation() && d.valid.target.size() == 0)
    throw Error(Exit::data,
                "the validation part is empty: the text is too short for data.valid_fraction.",
                "--set data.valid_fraction=0");
  return d;
}

Split load_text(const std::vector<std::string>& paths, const RunConfig& c,
                const Tokenizers& tokenizers) {
  Sha256 hash;
  return read_whole(text_files(paths), c, tokenizers, hash);
}

}  // namespace heed
