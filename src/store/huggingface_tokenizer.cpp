#include "store/huggingface_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/error.h"
#include "base/format.h"
#include "store/huggingface.h"
#include "text/piece_model.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace heed {
namespace {

using Json = nlohmann::json;

// A piece that looks like a special token or a byte in a text is never worth it.
constexpr double kNeverScore = -1e6;
constexpr const char* kBlank = " \\t\\r\\x0B\\f";  // between words, for a regular expression

// The tokens of any type, by id.
struct Vocabulary {
  std::vector<std::string> names;   // of the special tokens
  std::vector<std::string> tokens;  // after them; bpe, unigram: the 256 bytes first
  PieceModel pieces = {};           // bpe, unigram
};

// How GPT-2 writes a byte: as the character of its value, or, if that is none to be seen, as one of
// those from U+0100 on, in order.
std::string byte_letter(int byte) {
  const auto seen = [](int b) { return (b > ' ' && b < 127) || (b > 0xA0 && b != 0xAD); };
  int before = 0;
  for (int b = 0; b < byte; ++b) before += !seen(b);
  return encode_utf8(static_cast<char32_t>(seen(byte) ? byte : 256 + before));
}

Vocabulary vocabulary_of(const Tokenizer& tokenizer) {
  Vocabulary v{tokenizer.specials(), {}};
  if (is_subword(tokenizer.type())) {
    v.pieces = read_piece_model(tokenizer.serialize(), "");
    for (int byte = 0; byte < 256; ++byte) v.tokens.push_back(byte_piece(byte));
    for (const PieceModel::Piece& piece : v.pieces.pieces)
      v.tokens.push_back(replace_all(piece.text, kSpaceMark, " "));
  } else if (tokenizer.type() == TokenizerConfig::byte) {
    for (int byte = 0; byte < 256; ++byte) v.tokens.push_back(byte_letter(byte));
  } else {
    v.tokens = read_token_list(tokenizer.serialize(), "").tokens;
  }
  const std::unordered_set<std::string_view> words(v.tokens.begin(), v.tokens.end());
  for (std::string& name : v.names)
    while (words.contains(name)) name = "<" + name + ">";  // "<unk>" may be a word
  return v;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += (std::ispunct(static_cast<unsigned char>(c)) ? "\\" : "") + std::string(1, c);
  return out;
}

Json replace(const std::string& regex, const std::string& content) {
  return {{"type", "Replace"}, {"pattern", {{"Regex", regex}}}, {"content", content}};
}

Json split(const std::string& regex, const char* behavior) {
  return {{"type", "Split"},
          {"pattern", {{"Regex", regex}}},
          {"behavior", behavior},
          {"invert", false}};
}

Json sequence(const char* key, Json steps) {
  if (steps.empty()) return {};
  return {{"type", "Sequence"}, {key, std::move(steps)}};
}

// All ways to make a piece of two, the best pieces first. Pieces of one character need none.
Json merges_of(const Vocabulary& v) {
  const std::unordered_set<std::string_view> known(v.tokens.begin() + 256, v.tokens.end());
  std::vector<std::size_t> order(v.pieces.pieces.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t i) { return v.pieces.pieces[i].score; });
  Json merges = Json::array();
  for (const std::size_t i : order) {
    const std::string_view piece = v.tokens[256 + i];
    each_code_point(piece, [&](CodePoint, std::size_t at) {
      const auto left = piece.substr(0, at), right = piece.substr(at);
      if (known.contains(left) && known.contains(right)) merges.push_back({left, right});
    });
  }
  return merges;
}

Json model_of(const Vocabulary& v, TokenizerConfig::Type type) {
  std::vector<std::string> all = v.names;
  all.insert(all.end(), v.tokens.begin(), v.tokens.end());
  if (type == TokenizerConfig::unigram) {
    Json scored = Json::array();
    const std::size_t first = all.size() - v.pieces.pieces.size();
    for (std::size_t id = 0; id < all.size(); ++id)
      scored.push_back({all[id], id < first ? kNeverScore : v.pieces.pieces[id - first].score});
    return {{"type", "Unigram"},
            {"unk_id", Tokenizer::kUnk},
            {"byte_fallback", true},
            {"vocab", std::move(scored)}};
  }
  Json ids = Json::object();
  for (std::size_t id = 0; id < all.size(); ++id) ids[all[id]] = id;
  if (type == TokenizerConfig::word)
    return {{"type", "WordLevel"}, {"unk_token", v.names.front()}, {"vocab", std::move(ids)}};
  return {{"type", "BPE"},
          {"unk_token", type == TokenizerConfig::char_ ? Json(v.names.front()) : Json()},
          {"fuse_unk", false},
          {"byte_fallback", is_subword(type)},
          {"vocab", std::move(ids)},
          {"merges", v.pieces.pieces.empty() ? Json::array() : merges_of(v)}};
}

Json normalizer_of(const Vocabulary& v, const RunConfig& config) {
  Json steps = Json::array();
  if (config.data.normalize != Normalize::none)
    steps.push_back({{"type", config.data.normalize == Normalize::nfc ? "NFC" : "NFKC"}});
  if (config.data.lowercase) {  // theirs knows no final sigma
    const std::string cased = "[\\p{Lu}\\p{Ll}\\p{Lt}]",
                      skipped = "[\\p{Mn}\\p{Me}\\p{Cf}\\p{Lm}\\p{Sk}'.:\u00B7\u2018\u2019]";
    steps.push_back(
        replace("(?<=" + cased + "|" + cased + skipped + ")\u03A3(?!" + skipped + "*" + cased + ")",
                "\u03C2"));
    steps.push_back({{"type", "Lowercase"}});
  }
  if (config.tokenizer.type == TokenizerConfig::word &&
      config.tokenizer.punctuation == Punctuation::keep) {  // a word "<s>" is an unknown one
    std::vector<std::string> names;
    for (const std::string& name : v.names) names.push_back(escaped(name));
    const std::string other = "[^\\n" + std::string(kBlank) + "]";
    steps.push_back(replace("(?<!" + other + ")(?:" + joined(names, "|") + ")(?!" + other + ")",
                            v.names.front()));
  }
  return sequence("normalizers", std::move(steps));
}

// Words are joined with spaces, then those go that heed does not write.
Json word_decoder(const Tokenizer& tokenizer, const Vocabulary& v) {
  const int first = tokenizer.first_ordinary_id();
  const auto spaced = [&](int a, int b) { return tokenizer.text_after(a, b).starts_with(' '); };
  int plain = first;  // a word with spaces around it
  while (plain + 1 < tokenizer.size() && !spaced(plain, plain)) ++plain;
  std::string left, right;  // the words without a space on that side
  for (int id = first; id < tokenizer.size(); ++id) {
    if (!spaced(plain, id)) left += escaped(v.tokens[id - first]);
    if (!spaced(id, plain)) right += escaped(v.tokens[id - first]);
  }
  std::vector<std::string> places;
  if (!left.empty()) places.push_back(" (?=[" + left + "])");
  if (!right.empty()) places.push_back("(?<=[" + right + "]) ");
  Json steps = {{{"type", "WordPiece"}, {"prefix", "  "}, {"cleanup", false}}, {{"type", "Fuse"}}};
  if (!places.empty()) steps.push_back(replace(joined(places, "|"), ""));
  return sequence("decoders", std::move(steps));
}

Json word_splits(const RunConfig& config) {
  Json steps = {split("[" + std::string(kBlank) + "]+", "Removed"), split("\\n", "Isolated")};
  if (config.tokenizer.punctuation == Punctuation::split)
    steps.push_back(split("[\\p{P}\\p{S}]", "Isolated"));
  return sequence("pretokenizers", std::move(steps));
}

// "single": one text; "pair": two, one after the other.
Json framing(const Vocabulary& v, bool pairs) {
  const int id = pairs ? Tokenizer::kEos : Tokenizer::kBos;
  const std::string& name = v.names[id];
  const Json special = {{"SpecialToken", {{"id", name}, {"type_id", 0}}}};
  const auto text = [](const char* which) -> Json {
    return {{"Sequence", {{"id", which}, {"type_id", 0}}}};
  };
  const auto framed = [&](Json texts) {
    texts.insert(pairs ? texts.end() : texts.begin(), special);
    return texts;
  };
  return {{"type", "TemplateProcessing"},
          {"single", framed(Json::array({text("A")}))},
          {"pair", framed(Json::array({text("A"), text("B")}))},
          {"special_tokens", {{name, {{"id", name}, {"ids", {id}}, {"tokens", {name}}}}}}};
}

Json added_tokens(const Vocabulary& v) {
  Json all = Json::array();
  for (std::size_t id = 0; id < v.names.size(); ++id)
    all.push_back({{"id", id},
                   {"content", v.names[id]},
                   {"single_word", false},
                   {"lstrip", false},
                   {"rstrip", false},
                   {"normalized", false},
                   {"special", true}});
  return all;
}

}  // namespace

HuggingFaceTokenizer huggingface_tokenizer(const Tokenizer& tokenizer, const RunConfig& config) {
  const Vocabulary v = vocabulary_of(tokenizer);
  if (v.pieces.by_line)
    throw Error(Exit::usage,
                "its tokenizer (tokenizer.file) splits whole lines, in a way that no tokenizer of "
                "Hugging Face has.");
  Json cut, decoder = sequence("decoders", {{{"type", "ByteFallback"}}, {{"type", "Fuse"}}});
  if (tokenizer.type() == TokenizerConfig::word) {
    cut = word_splits(config);
    decoder = word_decoder(tokenizer, v);
  } else if (tokenizer.type() == TokenizerConfig::byte) {
    cut = decoder = {{"type", "ByteLevel"},
                     {"add_prefix_space", false},
                     {"trim_offsets", false},
                     {"use_regex", false}};
  }
  const Json file = {{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", added_tokens(v)},
                     {"normalizer", normalizer_of(v, config)},
                     {"pre_tokenizer", std::move(cut)},
                     {"post_processor", framing(v, config.model.encoder_layers > 0)},
                     {"decoder", std::move(decoder)},
                     {"model", model_of(v, tokenizer.type())}};
  const Json about = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                      {"unk_token", v.names[Tokenizer::kUnk]},
                      {"bos_token", v.names[Tokenizer::kBos]},
                      {"eos_token", v.names[Tokenizer::kEos]},
                      {"pad_token", v.names[Tokenizer::kEos]},
                      {"split_special_tokens", true},
                      {"clean_up_tokenization_spaces", false},
                      {"model_input_names", {"input_ids", "attention_mask"}},
                      {"model_max_length", longest_read(config)}};
  return {file.dump() + "\n", about.dump(2) + "\n"};
}

}  // namespace heed
