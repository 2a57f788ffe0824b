#include "store/huggingface.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "text/utf8.h"

namespace heed {
namespace {

// The tokens of any type, by id.
struct Vocabulary {
  vector<string> names;    // of the special tokens
  vector<string> tokens;   // after them; bpe, unigram: the 256 bytes first
  PieceModel pieces = {};  // bpe, unigram
};

// How GPT-2 writes a byte: as the character of its value, or, if that is none to be seen, as one of
// those from U+0100 on, in order.
string byte_letter(int byte) {
  const auto seen = [](int b) { return (b > ' ' && b < 127) || (b > 0xA0 && b != 0xAD); };
  int before = 0;
  for (int b = 0; b < byte; ++b) before += !seen(b);
  return encode_utf8(seen(byte) ? byte : 256 + before);
}

Vocabulary vocabulary_of(const Tokenizer& tokenizer) {
  Vocabulary v{tokenizer.specials(), {}};
  const bool subword = is_subword(tokenizer.type());
  if (subword) v.pieces = pieces_of_words(tokenizer);
  for (int id = tokenizer.first_ordinary_id(); id < tokenizer.size(); ++id) {
    const int n = id - tokenizer.first_ordinary_id();
    v.tokens.push_back(tokenizer.type() == TokenizerConfig::byte ? byte_letter(n)
                       : subword && n < 256                      ? byte_piece(n)
                                                                 : tokenizer.text_after(-1, id));
  }
  const unordered_set<string_view> words(v.tokens.begin(), v.tokens.end());
  for (string& name : v.names)
    while (words.contains(name)) name = "<" + name + ">";  // "<unk>" may be a word
  return v;
}

string escaped(string_view text) {
  string out;
  for (const char c : text) out += (std::ispunct(uint8_t(c)) ? "\\" : "") + string(1, c);
  return out;
}

// All ways to make a piece of two, the best pieces first. Pieces of one character need none.
Json merges_of(const Vocabulary& v) {
  const unordered_set<string_view> known(v.tokens.begin() + 256, v.tokens.end());
  vector<pair<float, string_view>> order;
  for (size_t i = 0; i < v.pieces.pieces.size(); ++i)
    order.emplace_back(v.pieces.pieces[i].score, v.tokens[256 + i]);
  ranges::stable_sort(order, greater(), [](const auto& piece) { return piece.first; });
  Json merges = Json::array();
  for (const auto& [score, piece] : order)
    each_code_point(piece, [&, whole = piece](CodePoint, size_t at) {
      const auto left = whole.substr(0, at), right = whole.substr(at);
      if (known.contains(left) && known.contains(right)) merges.push_back({left, right});
    });
  return merges;
}

Json model_of(const Vocabulary& v, TokenizerConfig::Type type) {
  const auto all = appended(v.names, v.tokens);
  if (type == TokenizerConfig::unigram) {
    Json model = {{"type", "Unigram"}, {"unk_id", Tokenizer::kUnk}, {"byte_fallback", true}};
    for (const PieceModel::Piece& piece : all_pieces(v.pieces))
      model["vocab"].push_back({all[model["vocab"].size()], piece.score});
    return model;
  }
  Json::object_t ids;
  for (size_t id = 0; id < all.size(); ++id) ids.emplace_back(all[id], id);
  Json model = {{"type", type == TokenizerConfig::word ? "WordLevel" : "BPE"},
                {"byte_fallback", is_subword(type)},
                {"vocab", ids},
                {"merges", is_subword(type) ? merges_of(v) : Json::array()}};
  if (type == TokenizerConfig::word || type == TokenizerConfig::char_)
    model["unk_token"] = v.names[Tokenizer::kUnk];
  return model;
}

Json added_tokens(const Vocabulary& v, const Json& added) {
  Json all = Json::array();
  for (const string& name : v.names) {
    Json token = {{"id", all.size()}, {"content", name}};
    token.update(added);
    all.push_back(token);
  }
  return all;
}

// Words are joined with spaces, then those go that heed does not write: a regular expression.
string joined_places(const Tokenizer& tokenizer, const Vocabulary& v) {
  const int first = tokenizer.first_ordinary_id();
  const auto spaced = [&](int a, int b) { return tokenizer.text_after(a, b).starts_with(' '); };
  int plain = first;  // a word with spaces around it
  while (plain + 1 < tokenizer.size() && !spaced(plain, plain)) ++plain;
  string left = "\\n", right = left;  // the words without a space on that side
  for (int id = first; id < tokenizer.size(); ++id) {
    if (v.tokens[id - first] == "\n") continue;
    if (!spaced(plain, id)) left += escaped(v.tokens[id - first]);
    if (!spaced(id, plain)) right += escaped(v.tokens[id - first]);
  }
  return fmt::format(" (?=[{}])|(?<=[{}]) ", left, right);
}

}  // namespace

PieceModel pieces_of_words(const Tokenizer& tokenizer) {
  PieceModel pieces = read_piece_model(tokenizer.serialize(), "");
  if (pieces.by_line)
    throw usage_error("a tokenizer.file that splits whole lines cannot be exported.");
  return pieces;
}

vector<NamedBytes> huggingface_tokenizer(const Model& m, Side side) {
  const RunConfig& config = m.config;
  const bool source = side == Side::source;
  const Tokenizer& tokenizer = source ? m.tokenizers.source() : *m.tokenizers.target;
  const TokenizerConfig& kind = source ? config.tokenizer : config.tokenizer.of_target();
  const Vocabulary v = vocabulary_of(tokenizer);
  const Json parts = foreign_table().at("tokenizer"), &steps = parts.at("normalizers");
  const bool words = tokenizer.type() == TokenizerConfig::word;
  const bool split = kind.punctuation == Punctuation::split;
  const char* framing = config.model.encoder_layers > 0 ? "pairs"
                        : config.data.has_pairs()       ? "joined"
                                                        : "text";
  Json values = {{"unk", v.names[Tokenizer::kUnk]},
                 {"bos", v.names[Tokenizer::kBos]},
                 {"eos", v.names[Tokenizer::kEos]},
                 {"longest", longest_read(config)},
                 {"added_tokens", added_tokens(v, parts.at("added"))},
                 {"padding_side", config.model.encoder_layers > 0 ? "right" : "left"},
                 {"framing", parts.at("framing").at(framing)},
                 {"model", model_of(v, tokenizer.type())}};
  Json file = parts.at("file"), about = parts.at("config");
  const string type(type_name(tokenizer.type()));
  if (parts.contains(type)) file.update(parts.at(type));
  constexpr const char* kForms[] = {"none", "nfc", "nfkc", "nfd", "nfkd"};  // of Normalize
  vector<string> changes = {kForms[int(config.data.normalize)]};
  if (config.data.lowercase) changes.push_back("lowercase");
  if (words) {
    values["alone"] = split ? "[\\n\\p{P}\\p{S}]" : "\\n";
    values["joined"] = joined_places(tokenizer, v);
    values["special_words"] = fmt::format("(?<![^{0}])(?:{1})(?![^{0}])", " \\n\\t\\r\\x0B\\f",
                                          joined(mapped(v.names, escaped), "|"));
    if (!split) changes.push_back("word");  // a word "<s>" is an unknown one
  }
  for (const string& change : changes)
    for (const Json& step : steps.at(change)) file["normalizer"]["normalizers"].push_back(step);
  fill_in(values["framing"], values);
  fill_in(file, values);
  fill_in(about, values);
  return {{"tokenizer.json", file.dump() + "\n"}, {"tokenizer_config.json", about.dump(2) + "\n"}};
}

}  // namespace heed
