#include "data/pair_dataset.h"

#include <algorithm>

#include "base/error.h"
#include "base/sha256.h"
#include "data/data_files.h"
#include "data/objective.h"
#include "data/split_encoder.h"
#include "text/tokenizer_trainer.h"

namespace heed {
namespace {

Split encode_pairs(std::span<const std::string_view> source,
                   std::span<const std::string_view> target, const RunConfig& c,
                   const Tokenizers& tokenizers, bool drop_long) {
  Split s(tokenizers.source().size(), tokenizers.target->size());
  s.lossy = c.data.lowercase;
  s.source_begin = s.target_begin = {0};
  SplitEncoder source_encoder(tokenizers.source(), s), target_encoder(*tokenizers.target, s);
  const auto limit = static_cast<std::size_t>(c.data.max_length);
  for (std::size_t i = 0; i < source.size(); ++i) {
    source_encoder.encode(source[i], s.source);
    const std::uint64_t of_source = s.unknown.count;
    target_encoder.encode(target[i], s.target);
    s.lossy = s.lossy || s.unknown.count > of_source;
    const std::size_t longest =
        std::max(s.source.size() - s.source_begin.back(), s.target.size() - s.target_begin.back());
    if (!drop_long &&
        longest + 1 > static_cast<std::size_t>(most_positions(c.model)))  // with <s> or </s>
      throw Error(Exit::data,
                  "Pair " + std::to_string(i + 1) + " of the held-out or given data has " +
                      std::to_string(longest) +
                      " tokens on one side; the model has positions for " +
                      std::to_string(c.model.max_length) + " with <s> or </s>.",
                  "leave it out, or train with a larger model.max_length");
    if (drop_long && longest > limit) {
      s.source.truncate(s.source_begin.back());
      s.target.truncate(s.target_begin.back());
      ++s.dropped;
      continue;
    }
    s.source_begin.push_back(s.source.size());
    s.target_begin.push_back(s.target.size());
    s.target_bytes += target[i].size() + 1;
  }
  return s;
}

std::string hash_of(const Pairs& pairs) {
  Sha256 hash;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::string_view line : {pairs.source[i], pairs.target[i]}) {
      hash.update(line);
      hash.update("\n");
    }
  return hash.hex();
}

void train_pair_tokenizers(const RunConfig& c, std::span<const std::string_view> source,
                           std::span<const std::string_view> target, Tokenizers& tokenizers,
                           std::vector<std::string>& notes) {
  const auto train = [&](std::initializer_list<std::span<const std::string_view>> sides) {
    TokenizerTrainer trainer(c.tokenizer, make_objective(c)->traits().specials, c.seed);
    for (const auto side : sides)
      for (std::string_view line : side) trainer.add(line);
    TrainedTokenizer t = trainer.finish();
    notes.push_back(t.note);
    return std::move(t.tokenizer);
  };
  if (c.tokenizer.shared) {
    tokenizers.target = train({source, target});
  } else {
    tokenizers.separate_source = train({source});
    tokenizers.target = train({target});
  }
}

// A held-out tail included.
Pairs read_training_pairs(const RunConfig& c, const std::string& folder) {
  const DataConfig& d = c.data;
  if (!d.pairs.empty()) return read_tsv(data_path(folder, "pairs", d.pairs), read_options(c));
  return read_parallel(data_path(folder, "source", d.source), data_path(folder, "target", d.target),
                       read_options(c));
}

// Held-out files of their own.
Pairs read_valid_pairs(const RunConfig& c, const std::string& folder) {
  const DataConfig& d = c.data;
  if (!d.valid_pairs.empty())
    return read_tsv(data_path(folder, "valid_pairs", d.valid_pairs), read_options(c));
  return read_parallel(data_path(folder, "valid_source", d.valid_source),
                       data_path(folder, "valid_target", d.valid_target), read_options(c));
}

}  // namespace

DataHash hash_pair_data(const RunConfig& c, const std::string& folder) {
  return {hash_of(read_training_pairs(c, folder)),
          c.data.has_valid_files() ? hash_of(read_valid_pairs(c, folder)) : ""};
}

Dataset load_pair_dataset(const RunConfig& c, const std::string& folder, Tokenizers& tokenizers) {
  Dataset d;
  const Pairs all = read_training_pairs(c, folder);
  d.hash.data = hash_of(all);
  const std::size_t n = split_pairs(all.size(), c.data.valid_fraction);
  const std::span<const std::string_view> source(all.source), target(all.target);
  if (n == 0)
    throw Error(Exit::data, "No pair is left for training: " + std::to_string(all.size()) +
                                " in all, data.valid_fraction holds out the rest.");
  if (!tokenizers.target)
    train_pair_tokenizers(c, source.first(n), target.first(n), tokenizers, d.notes);
  d.train = encode_pairs(source.first(n), target.first(n), c, tokenizers, true);
  if (c.data.has_valid_files()) {
    const Pairs valid = read_valid_pairs(c, folder);
    d.hash.valid = hash_of(valid);
    d.valid = encode_pairs(valid.source, valid.target, c, tokenizers, false);
  } else if (n < all.size()) {
    d.valid = encode_pairs(source.subspan(n), target.subspan(n), c, tokenizers, false);
  }
  if (d.train.sentences() == 0)
    throw Error(Exit::data,
                "Every pair is longer than data.max_length " + std::to_string(c.data.max_length) +
                    " tokens.",
                "--set data.max_length=" + std::to_string(2 * c.data.max_length));
  if (d.train.dropped > 0)
    d.notes.push_back("dropped " + std::to_string(d.train.dropped) +
                      " pairs longer than data.max_length " + std::to_string(c.data.max_length) +
                      " tokens");
  return d;
}

Split load_pairs(const Pairs& pairs, const RunConfig& c, const Tokenizers& tokenizers) {
  return encode_pairs(pairs.source, pairs.target, c, tokenizers, false);
}

Pairs read_held_out_pairs(const RunConfig& c, const std::string& folder) {
  if (c.data.has_valid_files()) return read_valid_pairs(c, folder);
  Pairs pairs = read_training_pairs(c, folder);
  const auto n = static_cast<std::ptrdiff_t>(split_pairs(pairs.size(), c.data.valid_fraction));
  for (auto* side : {&pairs.source, &pairs.target}) side->erase(side->begin(), side->begin() + n);
  return pairs;
}

}  // namespace heed
