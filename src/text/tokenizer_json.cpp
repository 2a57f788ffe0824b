#include "text/tokenizer_json.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/json_object.h"
#include "text/utf8.h"
#include "text/word_tokenizer.h"

namespace heed {
namespace {

constexpr std::string_view kFormat = "heed-tokenizer";

TokenizerConfig::Type type_of(JsonObject& file) {
  const std::string name = file.text("type");
  for (const auto type : {TokenizerConfig::char_, TokenizerConfig::byte, TokenizerConfig::word})
    if (name == type_name(type)) return type;
  file.fail("\"type\" must be \"char\", \"byte\" or \"word\".");
}

bool is_word(const std::string& token) {
  return token == "\n" || token.find_first_of(" \t\r\v\f\n") == std::string::npos;
}

// The names of the further special tokens.
std::vector<std::string> further_specials(JsonObject& file) {
  const std::vector<std::string> names = file.texts("special");
  constexpr auto& first = Tokenizer::kFirstSpecials;
  const std::set<std::string_view> distinct(names.begin(), names.end());
  if (names.size() < first.size() || !std::equal(first.begin(), first.end(), names.begin()) ||
      distinct.size() != names.size() || !std::ranges::all_of(names, is_special_name))
    file.fail("\"special\" must be [\"<unk>\", \"<s>\", \"</s>\"], then any further names.");
  return {names.begin() + first.size(), names.end()};
}

// Byte b has id first_ordinary_id() + b.
class ByteTokenizer final : public Tokenizer {
 public:
  explicit ByteTokenizer(const std::vector<std::string>& further)
      : Tokenizer(TokenizerConfig::byte, further) {}

  int size() const override { return first_ordinary_id() + 256; }

  void scan(std::string_view text, const Sink& sink) const override {
    const int first = first_ordinary_id();
    for (std::size_t at = 0; at < text.size(); ++at)
      sink({first + static_cast<unsigned char>(text[at]), at, at + 1});
  }

  std::string text_after(int, int id) const override {
    return is_special(id) ? "" : std::string(1, static_cast<char>(id - first_ordinary_id()));
  }

  std::string serialize() const override { return tokenizer_json(type(), specials(), {}); }
};

// One id per Unicode code point.
class CharTokenizer final : public Tokenizer {
 public:
  // `characters`: at least one, distinct, in id order.
  CharTokenizer(const std::vector<std::string>& further, std::vector<std::string> characters)
      : Tokenizer(TokenizerConfig::char_, further), characters_(std::move(characters)) {
    int id = first_ordinary_id();
    for (const std::string& c : characters_) {
      const char32_t value = code_point_at(c, 0).value;
      if (value >= ids_.size()) ids_.resize(value + 1, kUnk);
      ids_[value] = id++;
    }
  }

  int size() const override { return first_ordinary_id() + static_cast<int>(characters_.size()); }

  void scan(std::string_view text, const Sink& sink) const override {
    each_code_point(text, [&](CodePoint c, std::size_t at) {
      const int id = c.value < ids_.size() ? ids_[c.value] : kUnk;
      sink({id, at, at + c.length});
    });
  }

  std::string text_after(int, int id) const override {
    return is_special(id) ? "" : characters_[id - first_ordinary_id()];
  }

  std::string serialize() const override { return tokenizer_json(type(), specials(), characters_); }

 private:
  std::vector<std::string> characters_;
  std::vector<int> ids_;  // by code point, up to the largest known one; kUnk if unknown
};

}  // namespace

std::string fault_of(const TokenList& list) {
  if (list.tokens.size() + list.further.size() + Tokenizer::kFirstFurther > Tokenizer::kMaxSize)
    return "too many tokens";
  if (list.type == TokenizerConfig::byte)
    return list.tokens.empty() ? "" : "\"tokens\" must be empty";
  if (list.tokens.empty()) return "\"tokens\" is empty";
  std::unordered_set<std::string_view> seen;
  for (const std::string& token : list.tokens) {
    const std::string shown = "the token \"" + excerpt(token) + "\"";
    if (token.empty()) return "a token is empty";
    if (!seen.insert(token).second) return shown + " appears twice";
    if (list.type == TokenizerConfig::char_ &&
        static_cast<std::size_t>(code_point_at(token, 0).length) != token.size())
      return shown + " is more than one character";
    if (list.type == TokenizerConfig::word && !is_word(token)) return shown + " is not a word";
  }
  return "";
}

std::string tokenizer_json(TokenizerConfig::Type type, const std::vector<std::string>& specials,
                           const std::vector<std::string>& tokens, Punctuation punctuation) {
  nlohmann::ordered_json file;
  file["format"] = kFormat;
  file["version"] = 1;
  file["type"] = type_name(type);
  if (punctuation == Punctuation::split) file["punctuation"] = "split";
  file["special"] = specials;
  file["tokens"] = tokens;
  return file.dump() + "\n";
}

TokenList read_token_list(std::string_view bytes, const std::string& path) {
  JsonObject file = JsonObject::parse(bytes, {.name = path,
                                              .verdict = "not a tokenizer that heed wrote: ",
                                              .hint = "use another checkpoint of the run"});
  if (file.text("format") != kFormat) file.fail("\"format\" must be \"heed-tokenizer\".");
  if (file.count("version") != 1) file.fail("\"version\" must be 1.");
  TokenList list{.type = type_of(file)};
  if (file.has("punctuation")) {
    if (list.type != TokenizerConfig::word || file.text("punctuation") != "split")
      file.fail("\"punctuation\" must be \"split\", with type \"word\".");
    list.punctuation = Punctuation::split;
  }
  list.further = further_specials(file);
  list.tokens = file.texts("tokens");
  const std::string fault = fault_of(list);
  if (!fault.empty()) file.fail(fault + ".");
  return list;
}

std::unique_ptr<Tokenizer> tokenizer_of(TokenList list) {
  if (list.type == TokenizerConfig::byte) return std::make_unique<ByteTokenizer>(list.further);
  if (list.type == TokenizerConfig::char_)
    return std::make_unique<CharTokenizer>(list.further, std::move(list.tokens));
  return std::make_unique<WordTokenizer>(list.further, std::move(list.tokens), list.punctuation);
}

}  // namespace heed
