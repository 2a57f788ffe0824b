// An existing vocabulary (tokenizer.file): tokenizer.json or tokenizer.model from a heed run, a
// SentencePiece model from another program, or a text file with one token per line ("\n" is the
// newline). The content tells which it is.
//
// The file gives the tokens and their order. Ids are heed's: special tokens as the objective needs
// them, then, with bpe and unigram, 256 bytes, then the tokens. So the vocabulary of a run fits
// every objective, and a foreign model need not have heed's special ids. Declared in
// tokenizer_trainer.h.
#include "text/tokenizer_trainer.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/format.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "text/piece_model.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr const char* kListHint = "a list with one token on each line";

void require_same(const string& key, string_view found, string_view wanted, const string& path) {
  if (found != wanted)
    throw usage_error("tokenizer.{} is {}, but in tokenizer.file {} it is {}.", key, wanted, path,
                      found)
        .hint(fmt::format("--set tokenizer.{}={}", key, found));
}

TrainedTokenizer pieces_from(string_view bytes, const TokenizerConfig& config,
                             const vector<string>& specials, const string& path) {
  PieceModel model = adopt_pieces(bytes, path, specials);
  require_same("type", type_name(model.unigram ? TokenizerConfig::unigram : TokenizerConfig::bpe),
               type_name(config.type), path);
  string note;
  if (model.by_line)
    note = fmt::format("; lines are read as SentencePiece reads them (normaliser {})",
                       model.reading.normalizer);
  note += "; newlines and characters without a piece are single bytes";
  return {tokenizer_of(std::move(model), path), note};
}

// One token per line; names of special tokens are skipped.
TokenList list_of_lines(string_view text, TokenizerConfig::Type type,
                        const vector<string>& specials, const string& path) {
  if (Json::accept(text) && text.find_first_of("{[") != text.npos)
    throw data_error("{}: is JSON, but no tokenizer that heed wrote.", path).hint(kListHint);
  if (type != TokenizerConfig::char_ && type != TokenizerConfig::word)
    throw usage_error("tokenizer.type is {}, but tokenizer.file {} is a list of tokens.",
                      type_name(type), path)
        .hint("--set tokenizer.type=word");
  if (find_invalid_utf8(text) != string_view::npos) throw data_error("{}: not valid UTF-8.", path);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  TokenList list{.type = type};
  for (const string_view token : lines_of(text)) {
    const auto special =
        ranges::count(Tokenizer::kFirstSpecials, token) + ranges::count(specials, token);
    if (special == 0) list.tokens.emplace_back(token == "\\n" ? "\n" : token);
  }
  return list;
}

TrainedTokenizer tokens_from(string_view bytes, const TokenizerConfig& config,
                             const vector<string>& specials, const string& path) {
  const bool json =
      bytes.starts_with('{') && bytes.substr(0, 100).find("heed-tokenizer") != string_view::npos;
  TokenList list =
      json ? read_token_list(bytes, path) : list_of_lines(bytes, config.type, specials, path);
  require_same("type", type_name(list.type), type_name(config.type), path);
  const auto name = [](Punctuation p) { return p == Punctuation::split ? "split" : "keep"; };
  if (json) require_same("punctuation", name(list.punctuation), name(config.punctuation), path);
  list.punctuation = config.punctuation;
  list.further = specials;
  string fault = fault_of(list);
  if (fault.empty() && !json && list.tokens.size() == 1)
    fault = "it has one token; expected one on each of several lines";
  if (!fault.empty()) throw data_error("{}: {}.", path, fault).hint(kListHint);
  return {tokenizer_of(std::move(list)), ""};
}

}  // namespace

TrainedTokenizer read_vocabulary(const TokenizerConfig& config, const vector<string>& specials,
                                 const string& path) try {
  const string bytes = read_file(path, Tokenizer::kMaxFileBytes, InputFile::Allow::link);
  // Zero bytes occur in the scores of a model, never in a list.
  const auto read = bytes.find('\0') != string::npos ? pieces_from : tokens_from;
  TrainedTokenizer t = read(bytes, config, specials, path);
  t.note = fmt::format("tokenizer {}: {} ids from {}{}", type_name(config.type),
                       t.tokenizer->size(), path, t.note);
  return t;
} catch (const Error& e) {
  if (e.exit() != Exit::store) throw;
  // Its hint is about checkpoints.
  throw Error(Exit::data, e.text(), "heed config --docs: tokenizer.file");
}

}  // namespace heed
