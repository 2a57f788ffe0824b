#include "data/ids_cache.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/folders.h"
#include "base/sha256.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHash = 64;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;

class Writer {
 public:
  std::string bytes;
  void number(std::uint64_t x) { raw(&x, sizeof x); }
  void raw(const void* p, std::size_t n) { bytes.append(static_cast<const char*>(p), n); }
  void ids(const Ids& x) {
    number(x.size());
    raw(x.data(), x.size() * x.bytes_per_id());
  }
  void begins(const std::vector<std::uint64_t>& x) {
    number(x.size());
    raw(x.data(), x.size() * sizeof(std::uint64_t));
  }
  void split(const Split& s) {
    ids(s.source);
    ids(s.target);
    begins(s.source_begin);
    begins(s.target_begin);
    number(s.target_bytes);
    number(s.lossy);
    number(s.dropped);
  }
};

// The checksum has been verified, so the numbers are what a Writer wrote; a short read still stops.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool ok = true;
  std::uint64_t number() {
    std::uint64_t x = 0;
    raw(&x, sizeof x);
    return x;
  }
  void raw(void* p, std::size_t n) {
    ok = ok && n <= bytes_.size();
    if (!ok || n == 0) return;  // no source sentences: nothing to copy, and nowhere to
    std::memcpy(p, bytes_.data(), n);
    bytes_.remove_prefix(n);
  }
  void ids(Ids& x) {
    const std::uint64_t n = number();
    ok = ok && n <= bytes_.size() / x.bytes_per_id();
    if (ok) raw(x.resize(n), n * x.bytes_per_id());
  }
  // Ids of a vocabulary, sentences one after the other.
  static bool sound(const Ids& x, const std::vector<std::uint64_t>& begin, int vocab) {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] < 0 || x[i] >= vocab) return false;
    return begin.empty() || (begin.front() == 0 && begin.back() == x.size() &&
                             std::is_sorted(begin.begin(), begin.end()));
  }
  void begins(std::vector<std::uint64_t>& x) {
    const std::uint64_t n = number();
    ok = ok && n <= bytes_.size() / sizeof(std::uint64_t);
    if (!ok) return;
    x.resize(n);
    raw(x.data(), n * sizeof(std::uint64_t));
  }
  void split(Split& s) {
    ids(s.source);
    ids(s.target);
    begins(s.source_begin);
    begins(s.target_begin);
    s.target_bytes = number();
    s.lossy = number() != 0;
    s.dropped = number();
  }

 private:
  std::string_view bytes_;
};

constexpr const char* kIdsFile = "ids.bin";

// Subword ids are kept beside the run; characters, bytes and words are as quick to make as to read.
bool keeps_ids(const RunConfig& c) {
  return (c.tokenizer.type == TokenizerConfig::bpe ||
          c.tokenizer.type == TokenizerConfig::unigram) &&
         !c.data.has_valid_files();
}

}  // namespace

std::string ids_cache_key(const std::string& data_hash, const RunConfig& c,
                          const Tokenizers& tokenizers) {
  Sha256 hash;
  hash.update(data_hash);
  for (const NamedBytes& file : tokenizers.files()) hash.update(file.bytes);
  hash.update(std::to_string(c.data.valid_fraction) + " " + std::to_string(c.data.max_length) +
              (c.data.lowercase ? " lower" : ""));
  return hash.hex();
}

void save_ids(const std::filesystem::path& path, const std::string& key, const Dataset& data) {
  Writer w;
  w.bytes = key;
  w.split(data.train);
  w.split(data.valid);
  w.bytes += sha256(w.bytes);
  replace_file(path, w.bytes);
}

std::optional<Dataset> load_ids(const std::filesystem::path& path, const std::string& key,
                                const Tokenizers& tokenizers) {
  std::string bytes;
  try {
    bytes = read_file(path, kMaxBytes);
  } catch (const Error&) {
    return std::nullopt;
  }
  const std::string_view all = bytes;
  if (all.size() < 2 * kHash || all.substr(0, kHash) != key) return std::nullopt;
  const std::string_view body = all.substr(0, all.size() - kHash);
  if (sha256(body) != all.substr(body.size())) return std::nullopt;
  Dataset d;
  for (Split* s : {&d.train, &d.valid})
    *s = Split(tokenizers.source().size(), tokenizers.target->size());
  Reader r(body.substr(kHash));
  r.split(d.train);
  r.split(d.valid);
  if (!r.ok || d.train.source_begin.size() != d.train.target_begin.size() ||
      d.valid.source_begin.size() != d.valid.target_begin.size())
    return std::nullopt;
  for (const Split* s : {&d.train, &d.valid})
    if (!Reader::sound(s->source, s->source_begin, tokenizers.source().size()) ||
        !Reader::sound(s->target, s->target_begin, tokenizers.target->size()))
      return std::nullopt;
  return d;
}

void keep_ids(const fs::path& run, const RunConfig& config, const Dataset& data,
              const Tokenizers& tokenizers, Log& log) {
  if (!keeps_ids(config)) return;
  try {
    save_ids(run / kIdsFile, ids_cache_key(data.hash.data, config, tokenizers), data);
  } catch (const Error& e) {
    log.warn(std::string("resuming will tokenise again: ") + e.what());
  }
}

Dataset load_kept_dataset(const RunConfig& config, const fs::path& run, const std::string& folder,
                          Tokenizers& tokenizers, Log& log) {
  if (!keeps_ids(config) || !tokenizers.target) return load_dataset(config, folder, tokenizers);
  const DataHash hash = hash_dataset(config, folder);
  const fs::path path = run / kIdsFile;
  const std::string key = ids_cache_key(hash.data, config, tokenizers);
  if (std::optional<Dataset> kept = load_ids(path, key, tokenizers)) {
    kept->hash = hash;
    return std::move(*kept);
  }
  log.info("ids.bin is missing or of other data: the text is tokenised again");
  return load_dataset(config, folder, tokenizers);
}

}  // namespace heed
