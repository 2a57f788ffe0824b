#include "train/dataset.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/sha256.h"
#include "text/corpus.h"
#include "text/tokenizer_trainer.h"

namespace heed {
namespace {

ReadOptions read_options(const RunConfig& c) {
  return {c.tokenizer.type == TokenizerConfig::byte, c.data.lowercase};
}

std::vector<std::string> resolved(const std::vector<std::string>& paths,
                                  const std::string& folder) {
  std::vector<std::string> r;
  for (const std::string& p : paths) r.push_back(resolve_path(folder, p));
  return r;
}

// Calls use(part, is_training) for the text in pieces, cut where the held-out tail begins.
template <class Use>
void scan_split(const RunConfig& c, const std::vector<std::string>& paths, Use&& use) {
  const ReadOptions options = read_options(c);
  std::uint64_t total = 0;
  if (c.data.valid_fraction == 0) {
    total = ~std::uint64_t{0};
  } else if (c.data.lowercase) {  // may change the number of bytes
    scan_text(paths, options, [&](std::string_view s) { total += s.size(); });
  } else {
    for (const std::string& p : paths) {
      std::error_code ignored;  // scan_text reports what is wrong with a file
      const auto size = std::filesystem::file_size(p, ignored);
      if (!ignored) total += size;
    }
  }
  const auto cut =
      c.data.valid_fraction == 0
          ? total
          : static_cast<std::uint64_t>(static_cast<double>(total) * (1.0 - c.data.valid_fraction));
  std::uint64_t at = 0;
  scan_text(paths, options, [&](std::string_view s) {
    std::size_t left = at >= cut ? 0 : std::min<std::uint64_t>(s.size(), cut - at);
    if (left < s.size() && !options.any_bytes)
      while (left > 0 && (static_cast<unsigned char>(s[left]) & 0xC0) == 0x80) --left;
    if (left > 0) use(s.substr(0, left), true);
    if (left < s.size()) use(s.substr(left), false);
    at += s.size();
  });
}

class Encoder {
 public:
  Encoder(const Tokenizer& tokenizer, Split& split) : tokenizer_(tokenizer), split_(split) {}
  void encode(std::string_view text, Ids& ids) {
    const std::size_t before = unknown_;
    tokenizer_.scan(text, [&](const Token& t) {
      ids.push_back(t.id);
      unknown_ += t.id == Tokenizer::kUnk;
    });
    if (unknown_ > before) report(text);
  }

 private:
  void report(std::string_view text) {
    constexpr std::size_t kKinds = 20;
    Unknown u = tokenizer_.unknown(text, kKinds);
    split_.unknown.count += u.count;
    for (std::string& kind : u.kinds) {
      auto& kinds = split_.unknown.kinds;
      if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
      if (kinds.size() < kKinds) {
        kinds.push_back(std::move(kind));
      } else {
        split_.unknown.more_kinds = true;
      }
    }
  }
  const Tokenizer& tokenizer_;
  Split& split_;
  std::size_t unknown_ = 0;
};

Split encode_pairs(std::span<const std::string_view> source,
                   std::span<const std::string_view> target, const RunConfig& c,
                   const Tokenizers& tokenizers, bool drop_long) {
  Split s(tokenizers.source().size(), tokenizers.target->size());
  s.lossy = c.data.lowercase;
  s.source_begin = s.target_begin = {0};
  Encoder source_encoder(tokenizers.source(), s), target_encoder(*tokenizers.target, s);
  const auto limit = static_cast<std::size_t>(c.data.max_length);
  for (std::size_t i = 0; i < source.size(); ++i) {
    source_encoder.encode(source[i], s.source);
    target_encoder.encode(target[i], s.target);
    const std::size_t longest =
        std::max(s.source.size() - s.source_begin.back(), s.target.size() - s.target_begin.back());
    if (!drop_long && c.model.positions == Positions::learned &&
        longest + 1 > static_cast<std::size_t>(c.model.max_length))  // with <s> or </s>
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
  s.lossy = s.lossy || s.unknown.count > 0;
  return s;
}

Pairs read_pairs(const std::string& pairs, const std::string& source, const std::string& target,
                 const ReadOptions& options) {
  return pairs.empty() ? read_parallel(source, target, options) : read_tsv(pairs, options);
}

void train_pair_tokenizers(const RunConfig& c, std::span<const std::string_view> source,
                           std::span<const std::string_view> target, Tokenizers& tokenizers,
                           std::vector<std::string>& notes) {
  const auto train = [&](std::initializer_list<std::span<const std::string_view>> sides) {
    TokenizerTrainer trainer(c.tokenizer, false, c.seed);
    for (const auto side : sides)
      for (std::string_view line : side) {
        trainer.add(line);
        trainer.add("\n");
      }
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

Dataset load_pair_dataset(const RunConfig& c, const std::string& folder, Tokenizers& tokenizers) {
  const auto path = [&](const std::string& p) { return p.empty() ? p : resolve_path(folder, p); };
  const ReadOptions options = read_options(c);
  Dataset d;
  const Pairs all =
      read_pairs(path(c.data.pairs), path(c.data.source), path(c.data.target), options);
  Sha256 hash;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::string_view line : {all.source[i], all.target[i]}) {
      hash.update(line);
      hash.update("\n");
    }
  d.hash = hash.hex();
  const std::size_t n = split_pairs(all.size(), c.data.valid_fraction);
  const std::span<const std::string_view> source(all.source), target(all.target);
  if (n == 0)
    throw Error(Exit::data, "No pair is left for training: " + std::to_string(all.size()) +
                                " in all, data.valid_fraction holds out the rest.");
  if (!tokenizers.target)
    train_pair_tokenizers(c, source.first(n), target.first(n), tokenizers, d.notes);
  d.train = encode_pairs(source.first(n), target.first(n), c, tokenizers, true);
  if (c.data.has_valid_files()) {
    const Pairs valid = read_pairs(path(c.data.valid_pairs), path(c.data.valid_source),
                                   path(c.data.valid_target), options);
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

Dataset load_text_dataset(const RunConfig& c, const std::string& folder, Tokenizers& tokenizers) {
  const auto paths = resolved(c.data.train.paths, folder);
  Dataset d;
  if (!tokenizers.target) {
    TokenizerTrainer trainer(c.tokenizer, c.objective.type == ObjectiveType::masked_lm, c.seed);
    bool any = false;
    scan_split(c, paths, [&](std::string_view s, bool training) {
      if (training) trainer.add(s);
      any = any || training;
    });
    if (!any)
      throw Error(Exit::data, "The text is too short: data.valid_fraction holds all of it out.",
                  "more text");
    TrainedTokenizer t = trainer.finish();
    tokenizers.target = std::move(t.tokenizer);
    d.notes.push_back(t.note);
  }
  const int vocab = tokenizers.target->size();
  d.train = Split(vocab, vocab);
  d.valid = Split(vocab, vocab);
  Encoder train(*tokenizers.target, d.train), valid(*tokenizers.target, d.valid);
  Sha256 hash;
  scan_split(c, paths, [&](std::string_view s, bool training) {
    hash.update(s);
    Split& split = training ? d.train : d.valid;
    (training ? train : valid).encode(s, split.target);
    split.target_bytes += s.size();
  });
  d.hash = hash.hex();
  if (c.data.has_valid_files())
    d.valid = load_text(resolved(c.data.valid.paths, folder), c, tokenizers);
  d.train.target.shrink_to_fit();
  for (Split* s : {&d.train, &d.valid}) s->lossy = c.data.lowercase || s->unknown.count > 0;
  const std::size_t needed = 2;
  if (d.train.target.size() < needed)
    throw Error(Exit::data,
                "The training text is too short: " + std::to_string(d.train.target.size()) +
                    " tokens after holding out " + "the validation part.");
  if (c.data.has_validation() && d.valid.target.size() == 0)
    throw Error(Exit::data,
                "The validation part is empty: the text is too short for data.valid_fraction.",
                "--set data.valid_fraction=0");
  return d;
}

}  // namespace

Dataset load_dataset(const RunConfig& c, const std::string& folder, Tokenizers& tokenizers) {
  Dataset d = c.data.has_pairs() ? load_pair_dataset(c, folder, tokenizers)
                                 : load_text_dataset(c, folder, tokenizers);
  const auto say = [&](const Split& s, const char* name) {
    if (s.unknown.count > 0) d.notes.push_back(std::string(name) + ": " + s.unknown.summary());
  };
  say(d.train, "training data");
  say(d.valid, "validation data");
  return d;
}

Split load_text(const std::vector<std::string>& paths, const RunConfig& c,
                const Tokenizers& tokenizers) {
  Split s(1, tokenizers.target->size());
  Encoder encoder(*tokenizers.target, s);
  scan_text(paths, read_options(c), [&](std::string_view text) {
    encoder.encode(text, s.target);
    s.target_bytes += text.size();
  });
  s.lossy = c.data.lowercase || s.unknown.count > 0;
  return s;
}

Split load_parallel(const std::string& source, const std::string& target, const RunConfig& c,
                    const Tokenizers& tokenizers) {
  const Pairs pairs = read_parallel(source, target, read_options(c));
  return encode_pairs(pairs.source, pairs.target, c, tokenizers, false);
}

std::string hash_dataset(const RunConfig& c, const std::string& folder) {
  Sha256 hash;
  if (c.data.has_pairs()) {
    const auto path = [&](const std::string& p) { return p.empty() ? p : resolve_path(folder, p); };
    const Pairs all =
        read_pairs(path(c.data.pairs), path(c.data.source), path(c.data.target), read_options(c));
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::string_view line : {all.source[i], all.target[i]}) {
        hash.update(line);
        hash.update("\n");
      }
  } else {
    scan_text(resolved(c.data.train.paths, folder), read_options(c),
              [&](std::string_view s) { hash.update(s); });
  }
  return hash.hex();
}

}  // namespace heed
