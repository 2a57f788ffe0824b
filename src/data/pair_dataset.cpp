// Pairs as ids, one stream a side; declared in dataset.h.
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/format.h"
#include "base/sha256.h"
#include "base/std_names.h"
#include "data/dataset.h"
#include "data/objective.h"
#include "text/tokenizer_trainer.h"
#include "text/utf8.h"

namespace heed {
namespace {

// The pairs [begin, end). Those for training are dropped if they are longer than data.max_length;
// the others if the model cannot read them, even `at_once` together. Error if none is left.
Split encode_pairs(const Pairs& pairs, size_t begin, size_t end, const RunConfig& c,
                   const Tokenizers& tokenizers, bool training, size_t at_once = 1) {
  Split s(tokenizers.source().size(), tokenizers.target->size());
  s.lossy = c.data.changes_text() || pairs.replaced;
  s.source_begin = s.target_begin = {0};
  const int limit = c.data.max_length;
  const auto objective = make_objective(c);
  optional<Error> first;
  vector<string> spaced;
  for (size_t i = begin; i < end; ++i) {
    s.facts.add(pairs.source[i], pairs.target[i]);
    if (stripped(pairs.source[i]) != pairs.source[i] ||
        stripped(pairs.target[i]) != pairs.target[i])
      spaced.push_back(fmt::format("{}:{}", pairs.source_path, pairs.lines[i]));
    const Unknown before = s.unknown;
    const bool lossy = s.lossy;
    TextToIds(tokenizers.source()).take(pairs.source[i], s, s.source);
    const uint64_t of_source = s.unknown.count;
    TextToIds to_ids(*tokenizers.target);
    to_ids.take(pairs.target[i], s, s.target);
    s.lossy = s.lossy || s.unknown.count > of_source || !to_ids.exact();
    const size_t of_first = s.source.size() - s.source_begin.back(),
                 of_second = s.target.size() - s.target_begin.back(),
                 longest = max(of_first, of_second);
    const auto name = [&] {
      return fmt::format("{}:{}", of_first > of_second ? pairs.source_path : pairs.target_path,
                         pairs.lines[i]);
    };
    try {
      if (!training)
        (void)objective->fit(Side::target,
                             objective->traits().joined ? 2 + of_first + of_second : 1 + longest,
                             name(), at_once);
      else if (std::cmp_greater(longest, limit))
        throw data_error("{} is longer than data.max_length {} tokens.", name(), limit)
            .hint(fmt::format("--set data.max_length={}", 2 * limit));
    } catch (const Error& e) {
      if (s.dropped++ == 0) first = e;
      s.source.truncate(s.source_begin.back());
      s.target.truncate(s.target_begin.back());
      if (!training) s.unknown = before, s.lossy = lossy;  // left out of all figures
      continue;
    }
    s.source_begin.push_back(s.source.size());
    s.target_begin.push_back(s.target.size());
    s.target_bytes += pairs.target[i].size() + 1;
    s.lines.push_back(pairs.lines[i]);
  }
  if (first && s.sentences() == 0) throw *first;
  if (!spaced.empty()) s.warnings.push_back(spaced_in_words(spaced));
  if (first)
    s.warnings.push_back(fmt::format("left out {} of {}, the first: {}", s.dropped,
                                     counted(to_string(end - begin), "pair"), first->text()));
  return s;
}

string hash_of(const Pairs& pairs) {
  Sha256 hash;
  for (size_t i = 0; i < pairs.size(); ++i)
    for (string_view line : {pairs.source[i], pairs.target[i]}) {
      hash.update(line);
      hash.update("\n");
    }
  return hash.hex();
}

// The lines of a side, for training and held out.
using Lines = array<span<const string_view>, 2>;

void make_pair_tokenizers(const RunConfig& c, const string& folder, const Lines& source,
                          const Lines& target, Dataset& d, Tokenizers& tokenizers) {
  const auto make = [&](const TokenizerConfig& config, std::initializer_list<Lines> sides) {
    return make_tokenizer(c, config, folder, d, [&](TokenizerTrainer& trainer) {
      for (const Lines& side : sides)
        for (const string_view line : side[0]) trainer.add(line);
      for (const Lines& side : sides)
        for (const string_view line : side[1]) trainer.add_held_out(line);
    });
  };
  if (c.tokenizer.shared) {
    tokenizers.target = make(c.tokenizer, {source, target});
    return;
  }
  tokenizers.separate_source = make(c.tokenizer, {source});
  try {
    tokenizers.target = make(c.tokenizer.of_target(), {target});
  } catch (const Error& e) {
    throw Error(e.exit(), "the target's tokenizer: " +
                              replace_all(e.what(), "tokenizer.", "tokenizer.target."));
  }
}

// Does a side go up or down almost throughout, as in a word list? Few lines do so by chance.
bool is_sorted(const vector<string_view>& side) {
  size_t up = 0, down = 0;
  for (size_t i = 1; i < side.size(); ++i) {
    up += side[i - 1] < side[i];
    down += side[i] < side[i - 1];
  }
  return side.size() >= 500 && 20 * min(up, down) < max(up, down);
}

// The training pairs, including a held-out tail; or the separate held-out files.
Pairs read_pairs(const RunConfig& c, const string& folder, bool valid = false) {
  const DataConfig& d = c.data;
  const auto path = [&](const string& training, const string& held_out) {
    return resolve_path(folder, valid ? held_out : training);
  };
  if (!(valid ? d.valid_pairs : d.pairs).empty())
    return read_tsv(path(d.pairs, d.valid_pairs), read_options(c), d.columns);
  return read_parallel(path(d.source, d.valid_source), path(d.target, d.valid_target),
                       read_options(c));
}

}  // namespace

Dataset load_pair_dataset(const RunConfig& c, const string& folder, Tokenizers& tokenizers) {
  Dataset d;
  const Pairs all = read_pairs(c, folder);
  d.hash.data = hash_of(all);
  const size_t n = all.size() * (1 - c.data.valid_fraction);  // rounded down
  if (n == 0)
    throw data_error(
        "no pair is left for training: {} in all, data.valid_fraction holds out the rest.",
        all.size());
  const size_t limit = c.data.limit, used = limit > 0 ? min(limit, n) : n;
  const bool files = c.data.has_valid_files();
  const Pairs own = files ? read_pairs(c, folder, true) : Pairs(), &valid = files ? own : all;
  const size_t begin = files ? 0 : n;
  if (!tokenizers.target)
    make_pair_tokenizers(
        c, folder, {span(all.source).first(used), span(valid.source).subspan(begin)},
        {span(all.target).first(used), span(valid.target).subspan(begin)}, d, tokenizers);
  d.train = encode_pairs(all, 0, used, c, tokenizers, true);
  d.train.add(all);
  if (files || begin < valid.size())
    d.valid = encode_pairs(valid, begin, valid.size(), c, tokenizers, false, 0);
  if (files) {
    d.hash.valid = hash_of(valid);
    d.valid.add(valid);
  } else if (n < all.size() && (is_sorted(all.source) || is_sorted(all.target))) {
    d.valid.warnings.push_back(
        "the pairs are sorted, so that the held-out end is unlike the rest: "
        "shuf < TABLE > mixed.tsv (of two files: paste SOURCE TARGET | shuf)");
  }
  return d;
}

Split load_pairs(const Pairs& pairs, const RunConfig& c, const Tokenizers& tokenizers,
                 size_t at_once) {
  Split split = encode_pairs(pairs, 0, pairs.size(), c, tokenizers, false, at_once);
  split.add(pairs);
  return split;
}

Pairs written_pairs(const RunConfig& c, const string& folder) {
  return read_pairs(c, folder, c.data.has_valid_files());
}

}  // namespace heed
