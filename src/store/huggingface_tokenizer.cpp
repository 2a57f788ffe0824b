#include "store/huggingface_tokenizer.h"

#include <fmt/core.h>

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

using namespace nlohmann::literals;
using Tree = nlohmann::json;  // a part of tokenizer.json

// A piece that looks like a special token or a byte in a text is never worth it.
constexpr double kNeverScore = -1e6;
constexpr const char* kBlank = " \\t\\r\\x0B\\f";  // between words, for a regular expression
// Unicode's Cased and Case_Ignorable, nearly.
constexpr const char *kCased = "[\\p{Lu}\\p{Ll}\\p{Lt}]",
                     *kSkipped = "[\\p{Mn}\\p{Me}\\p{Cf}\\p{Lm}\\p{Sk}'.:\u00B7\u2018\u2019]";

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

Tree replace(const std::string& regex, const std::string& content) {
  return {{"type", "Replace"}, {"pattern", {{"Regex", regex}}}, {"content", content}};
}

Tree split(const std::string& regex, const char* behavior) {
  Tree step = R"({"type": "Split", "invert": false})"_json;
  step["pattern"]["Regex"] = regex;
  step["behavior"] = behavior;
  return step;
}

// All ways to make a piece of two, the best pieces first. Pieces of one character need none.
Tree merges_of(const Vocabulary& v) {
  const std::unordered_set<std::string_view> known(v.tokens.begin() + 256, v.tokens.end());
  std::vector<std::pair<float, std::string_view>> order;
  for (std::size_t i = 0; i < v.pieces.pieces.size(); ++i)
    order.emplace_back(v.pieces.pieces[i].score, v.tokens[256 + i]);
  std::ranges::stable_sort(order, std::greater(), [](const auto& piece) { return piece.first; });
  Tree merges = Tree::array();
  for (const auto& [score, piece] : order)
    each_code_point(piece, [&, whole = piece](CodePoint, std::size_t at) {
      const auto left = whole.substr(0, at), right = whole.substr(at);
      if (known.contains(left) && known.contains(right)) merges.push_back({left, right});
    });
  return merges;
}

Tree model_of(const Vocabulary& v, TokenizerConfig::Type type) {
  std::vector<std::string> all = v.names;
  all.insert(all.end(), v.tokens.begin(), v.tokens.end());
  if (type == TokenizerConfig::unigram) {
    Tree model = R"({"type": "Unigram", "unk_id": 0, "byte_fallback": true})"_json;
    const std::size_t first = all.size() - v.pieces.pieces.size();
    for (std::size_t id = 0; id < all.size(); ++id)
      model["vocab"].push_back(
          {all[id], id < first ? kNeverScore : v.pieces.pieces[id - first].score});
    return model;
  }
  Tree model = {{"type", type == TokenizerConfig::word ? "WordLevel" : "BPE"},
                {"byte_fallback", is_subword(type)},
                {"merges", is_subword(type) ? merges_of(v) : Tree::array()}};
  if (type == TokenizerConfig::word || type == TokenizerConfig::char_)
    model["unk_token"] = v.names[Tokenizer::kUnk];
  for (std::size_t id = 0; id < all.size(); ++id) model["vocab"][all[id]] = id;
  return model;
}

Tree normalizer_of(const Vocabulary& v, const RunConfig& config) {
  Tree steps = Tree::array();
  if (config.data.normalize != Normalize::none)
    steps.push_back({{"type", config.data.normalize == Normalize::nfc ? "NFC" : "NFKC"}});
  if (config.data.lowercase) {  // theirs knows no final sigma
    steps.push_back(
        replace(fmt::format("(?<={0}|{0}{1})\u03A3(?!{1}*{0})", kCased, kSkipped), "\u03C2"));
    steps.push_back({{"type", "Lowercase"}});
  }
  if (config.tokenizer.type == TokenizerConfig::word &&
      config.tokenizer.punctuation == Punctuation::keep) {  // a word "<s>" is an unknown one
    std::vector<std::string> names;
    for (const std::string& name : v.names) names.push_back(escaped(name));
    steps.push_back(
        replace(fmt::format("(?<![^\\n{0}])(?:{1})(?![^\\n{0}])", kBlank, joined(names, "|")),
                v.names[Tokenizer::kUnk]));
  }
  return {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
}

// Words are joined with spaces, then those go that heed does not write.
Tree word_decoder(const Tokenizer& tokenizer, const Vocabulary& v) {
  const int first = tokenizer.first_ordinary_id();
  const auto spaced = [&](int a, int b) { return tokenizer.text_after(a, b).starts_with(' '); };
  int plain = first;  // a word with spaces around it
  while (plain + 1 < tokenizer.size() && !spaced(plain, plain)) ++plain;
  std::string left = " (?=[", right = "(?<=[";  // the words without a space on that side
  for (int id = first; id < tokenizer.size(); ++id) {
    if (!spaced(plain, id)) left += escaped(v.tokens[id - first]);
    if (!spaced(id, plain)) right += escaped(v.tokens[id - first]);
  }
  Tree decoder = R"({"type": "Sequence", "decoders": [
      {"type": "WordPiece", "prefix": "  ", "cleanup": false}, {"type": "Fuse"}]})"_json;
  if (!left.ends_with('[')) decoder["decoders"].push_back(replace(left + "])", ""));
  if (!right.ends_with('[')) decoder["decoders"].push_back(replace(right + "]) ", ""));
  return decoder;
}

Tree word_splits(const RunConfig& config) {
  Tree steps = {split(fmt::format("[{}]+", kBlank), "Removed"), split("\\n", "Isolated")};
  if (config.tokenizer.punctuation == Punctuation::split)
    steps.push_back(split("[\\p{P}\\p{S}]", "Isolated"));
  return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

// "single": one text; "pair": two, one after the other.
Tree framing(const Vocabulary& v, bool pairs) {
  const int id = pairs ? Tokenizer::kEos : Tokenizer::kBos;
  const std::string& name = v.names[id];
  Tree frame = R"({"type": "TemplateProcessing",
      "single": [{"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}]
      })"_json;
  const Tree special = {{"SpecialToken", {{"id", name}, {"type_id", 0}}}};
  for (const char* texts : {"single", "pair"})
    frame[texts].insert(pairs ? frame[texts].end() : frame[texts].begin(), special);
  frame["special_tokens"][name] = {{"id", name}, {"ids", {id}}, {"tokens", {name}}};
  return frame;
}

}  // namespace

HuggingFaceTokenizer huggingface_tokenizer(const Tokenizer& tokenizer, const RunConfig& config) {
  const Vocabulary v = vocabulary_of(tokenizer);
  if (v.pieces.by_line)
    throw Error(Exit::usage,
                "tokenizer.file splits whole lines, as no tokenizer of Hugging Face does.");
  Tree file = R"({"version": "1.0", "truncation": null, "padding": null, "pre_tokenizer": null,
      "decoder": {"type": "Sequence",
                  "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}})"_json;
  if (tokenizer.type() == TokenizerConfig::word) {
    file["pre_tokenizer"] = word_splits(config);
    file["decoder"] = word_decoder(tokenizer, v);
  } else if (tokenizer.type() == TokenizerConfig::byte) {
    file["pre_tokenizer"] = file["decoder"] = R"({"type": "ByteLevel", "add_prefix_space": false,
        "trim_offsets": false, "use_regex": false})"_json;
  }
  for (const std::string& name : v.names) {
    Tree token = R"({"single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
        "special": true})"_json;
    token["id"] = file["added_tokens"].size();
    token["content"] = name;
    file["added_tokens"].push_back(token);
  }
  file["normalizer"] = normalizer_of(v, config);
  file["post_processor"] = framing(v, config.model.encoder_layers > 0);
  file["model"] = model_of(v, tokenizer.type());

  Tree about = R"({"tokenizer_class": "PreTrainedTokenizerFast", "split_special_tokens": true,
      "clean_up_tokenization_spaces": false,
      "model_input_names": ["input_ids", "attention_mask"]})"_json;
  about["unk_token"] = v.names[Tokenizer::kUnk];
  about["bos_token"] = v.names[Tokenizer::kBos];
  about["eos_token"] = about["pad_token"] = v.names[Tokenizer::kEos];
  about["model_max_length"] = longest_read(config);
  return {file.dump() + "\n", about.dump(2) + "\n"};
}

}  // namespace heed
