#include "data/dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "base/sha256.h"
#include "base/std_names.h"
#include "data/objective.h"
#include "text/tokenizer_trainer.h"

namespace heed {
namespace {

// Of the training tokens.
double unknown_share(const Dataset& d) {
  return double(d.train.unknown.count) / (d.train.source.size() + d.train.target.size());
}

string unknown_in_words(const Dataset& d) {
  return fmt::format("{:.0f} % of the training text is unknown to the vocabulary (<unk>): {}",
                     100 * unknown_share(d), d.train.unknown.summary());
}

// What to try where data.<key> names no file: the same path from the current folder, or the script
// that downloads it: below the current folder, if it cannot write where the config looks.
string remedy(const string& key, const string& written, const string& path) {
  constexpr string_view kDownloads = "data/downloads/";
  const string set = "--set data." + key + "=";
  const size_t at = path.find(kDownloads);
  const string downloaded = at == path.npos ? "" : path.substr(at);
  for (const string& here : {written, downloaded})
    if (fs::exists(here, ignored()))
      return set + shell_word(fs::absolute(here).lexically_normal()) +
             " (other paths start at the folder of the config)";
  if (downloaded.empty())
    return "check the path; a run finds its data in the current folder, too; train and resume "
           "take another with " +
           set +
           "PATH (from the folder of the config, or absolute), and then all commands look there";
  const fs::path file = downloaded.substr(kDownloads.size());
  return fmt::format(
      "scripts/get_data.sh {} in heed's source folder downloads it (and the first lines of the "
      "config say what else to do); or {}PATH",
      (*file.begin()).stem().string(), set);
}

// Error (data) if a file is missing, or is a pipe or a device.
void require_files(DataConfig data, const string& folder) {
  const auto missing = missing_files(data, folder);
  vector<string> names;
  for (const auto& [key, written] : missing)
    names.push_back(fmt::format("data.{}: {}", key, resolve_path(folder, *written)));
  if (!missing.empty()) {
    const auto& [key, written] = missing.front();
    throw data_error("{}: no such file.", joined(names))
        .hint(remedy(key, *written, resolve_path(folder, *written)));
  }
  for (const auto& [key, written] : paths_of(data)) {
    if (*written == "-")
      throw data_error("data.{}: - is standard input; expected a file, which can be read again.",
                       key)
          .hint("write it to a file; heed train - does that");
    refuse_pipe(resolve_path(folder, *written));
  }
}

bool learns(const RunConfig& c, TokenizerConfig::Type type) {
  const auto one = [type](const TokenizerConfig& t) { return t.type == type && t.file.empty(); };
  return one(c.tokenizer) || one(c.tokenizer.of_target());
}

}  // namespace

string DataHash::all() const {
  return valid.empty() ? data : sha256(data + valid);
}

void refuse_foreign_vocabulary(const Dataset& data, const string& from) {
  if (unknown_share(data) <= 0.2) return;
  throw data_error("{}: {}", from, unknown_in_words(data))
      .hint("a vocabulary that was made from such text; or none, to learn one from this text");
}

unique_ptr<Tokenizer> make_tokenizer(const RunConfig& c, const TokenizerConfig& own,
                                     const string& folder, Dataset& d,
                                     const function<void(TokenizerTrainer&)>& show) {
  TrainedTokenizer made;
  if (own.file.empty()) {
    TokenizerTrainer trainer(own, further_specials(c), c.seed);
    show(trainer);
    made = trainer.finish();
  } else {
    made = read_vocabulary(own, further_specials(c), resolve_path(folder, own.file));
  }
  if (made.tokenizer->serialize().size() > Tokenizer::kMaxFileBytes)
    throw data_error("the vocabulary would take more than {}.",
                     format_bytes(Tokenizer::kMaxFileBytes))
        .hint("set tokenizer.vocab_size or tokenizer.min_frequency");
  d.details.push_back(made.note);
  return std::move(made.tokenizer);
}

vector<DataPath> missing_files(DataConfig& data, const string& folder) {
  vector<DataPath> paths = paths_of(data);
  erase_if(paths, [&](const DataPath& path) {
    const fs::path file = resolve_path(folder, *path.second);
    return *path.second == "-" ||
           fs::symlink_status(file, ignored()).type() != fs::file_type::not_found;
  });
  return paths;
}

Dataset load_dataset(const RunConfig& c, const string& folder, Tokenizers& tokenizers) {
  require_files(c.data, folder);
  // Versions of SentencePiece learn different unigram pieces, and the same bpe pieces, if in
  // another order now and then.
  const bool portable = !tokenizers.target && c.train.arithmetic == Arithmetic::portable;
  if (portable && learns(c, TokenizerConfig::unigram))
    throw usage_error("train.arithmetic portable does not learn unigram pieces.")
        .hint("tokenizer.file, a run's tokenizer.model; or another tokenizer.type");
  Dataset d = c.data.has_pairs() ? load_pair_dataset(c, folder, tokenizers)
                                 : load_text_dataset(c, folder, tokenizers);
  if (const string leak = leaks(d.train.facts, d.valid.facts); !leak.empty())
    d.warnings.push_back(leak);
  if (portable && learns(c, TokenizerConfig::bpe))
    d.warnings.push_back(
        "another version of SentencePiece can give these bpe pieces other ids, and the run other "
        "bytes: there, tokenizer.file takes this run's tokenizer.model");
  for (const auto& [split, name] :
       {pair{&d.train, "training data: "}, {&d.valid, "validation data: "}}) {
    if (split->unknown.count > 0) d.notes.push_back(name + split->unknown.summary());
    d.add(*split, name);
  }
  if (d.hash.valid == d.hash.data)
    d.warnings.push_back("held-out data is training data too: it can't show what was learnt");
  if (unknown_share(d) > 0.02) d.warnings.push_back(unknown_in_words(d));
  return d;
}

ReadOptions read_options(const RunConfig& c) {
  const bool bytes = c.tokenizer.type == TokenizerConfig::byte &&
                     c.tokenizer.of_target().type == TokenizerConfig::byte;
  return {bytes && c.data.normalize == Normalize::none, c.data.lowercase, c.data.normalize};
}

}  // namespace heed
