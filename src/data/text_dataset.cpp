#include "data/text_dataset.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/sha256.h"
#include "data/data_files.h"
#include "data/objective.h"
#include "data/split_encoder.h"
#include "text/tokenizer_trainer.h"

namespace heed {
namespace {

std::vector<std::string> resolved(const std::vector<std::string>& paths, const std::string& folder,
                                  const char* key) {
  std::vector<std::string> r;
  for (const std::string& p : paths) r.push_back(data_path(folder, key, p));
  return r;
}

// Calls use(part, is_training) for the text in pieces, cut where the held-out tail begins.
template <class Use>
void scan_split(const RunConfig& c, const std::vector<std::string>& paths, Use&& use) {
  const ReadOptions options = read_options(c);
  std::uint64_t cut = ~std::uint64_t{0};  // bytes of training text
  if (c.data.valid_fraction > 0) {
    std::uint64_t total = 0;
    if (c.data.lowercase)  // may change the number of bytes
      scan_text(paths, options, [&](std::string_view s) { total += s.size(); });
    else
      total = bytes_of_files(paths);
    cut = static_cast<std::uint64_t>(static_cast<double>(total) * (1.0 - c.data.valid_fraction));
  }
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

std::string hash_of_text(const RunConfig& c, const std::vector<std::string>& paths) {
  Sha256 hash;
  scan_text(paths, read_options(c), [&](std::string_view s) { hash.update(s); });
  return hash.hex();
}

std::string hash_valid(const RunConfig& c, const std::string& folder) {
  if (!c.data.has_valid_files()) return "";
  return hash_of_text(c, resolved(c.data.valid.paths, folder, "valid"));
}

}  // namespace

DataHash hash_text_data(const RunConfig& c, const std::string& folder) {
  return {hash_of_text(c, resolved(c.data.train.paths, folder, "train")), hash_valid(c, folder)};
}

Dataset load_text_dataset(const RunConfig& c, const std::string& folder, Tokenizers& tokenizers) {
  const auto paths = resolved(c.data.train.paths, folder, "train");
  Dataset d;
  if (!tokenizers.target) {
    TokenizerTrainer trainer(c.tokenizer, make_objective(c)->traits().specials, c.seed);
    bool any = false;
    scan_split(c, paths, [&](std::string_view s, bool training) {
      if (training) trainer.add(s);
      any = any || training;
    });
    if (!any)
      throw Error(Exit::data, "the text is too short: data.valid_fraction holds all of it out.",
                  "more text");
    TrainedTokenizer t = trainer.finish();
    tokenizers.target = std::move(t.tokenizer);
    d.notes.push_back(t.note);
  }
  const int vocab = tokenizers.target->size();
  d.train = Split(vocab, vocab);
  d.valid = Split(vocab, vocab);
  if (c.tokenizer.type == TokenizerConfig::char_ || c.tokenizer.type == TokenizerConfig::byte)
    // Other tokenizers give far fewer tokens than bytes.
    d.train.target.reserve(bytes_of_files(paths));
  Sha256 hash;
  scan_split(c, paths, [&](std::string_view s, bool training) {
    hash.update(s);
    Split& split = training ? d.train : d.valid;
    encode_text(s, *tokenizers.target, split, split.target);
    split.target_bytes += s.size();
  });
  d.hash = {hash.hex(), hash_valid(c, folder)};
  if (c.data.has_valid_files())
    d.valid = load_text(resolved(c.data.valid.paths, folder, "valid"), c, tokenizers);
  for (Split* s : {&d.train, &d.valid}) s->lossy = c.data.lowercase || s->unknown.count > 0;
  if (d.train.target.size() < 2)
    throw Error(Exit::data,
                fmt::format("the training text is too short: {} tokens after holding out the "
                            "validation part.",
                            d.train.target.size()));
  if (c.data.has_validation() && d.valid.target.size() == 0)
    throw Error(Exit::data,
                "the validation part is empty: the text is too short for data.valid_fraction.",
                "--set data.valid_fraction=0");
  return d;
}

Split load_text(const std::vector<std::string>& paths, const RunConfig& c,
                const Tokenizers& tokenizers) {
  Split s(1, tokenizers.target->size());
  scan_text(paths, read_options(c), [&](std::string_view text) {
    encode_text(text, *tokenizers.target, s, s.target);
    s.target_bytes += text.size();
  });
  s.lossy = c.data.lowercase || s.unknown.count > 0;
  return s;
}

}  // namespace heed
