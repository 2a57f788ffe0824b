#include "text/tokenizer_json.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/fields.h"
#include "text/utf8.h"
#include "text/word_tokenizer.h"

namespace heed {

// As it is stored (base/fields.h).
struct TokenizerFile {
  std::string format = "heed-tokenizer";
  std::int64_t version = 1;
  std::string type;
  std::optional<std::string> punctuation = {};
  std::vector<std::string> special, tokens;
};
void fields(TokenizerFile& f, auto visit) {
  visit("format", f.format, "version", f.version, "type", f.type, "punctuation", f.punctuation,
        "special", f.special, "tokens", f.tokens);
}

namespace {

bool is_word(const std::string& token) {
  return token == "\n" || token.find_first_of(" \t\r\v\f\n") == std::string::npos;
}

// The first three of all tokenizers, then others.
bool are_specials(const std::vector<std::string>& names) {
  constexpr auto& first = Tokenizer::kFirstSpecials;
  const std::set<std::string_view> distinct(names.begin(), names.end());
  return names.size() >= first.size() && std::equal(first.begin(), first.end(), names.begin()) &&
         distinct.size() == names.size() && std::ranges::all_of(names, is_special_name);
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
  TokenizerFile file{.type = std::string(type_name(type)), .special = specials, .tokens = tokens};
  if (punctuation == Punctuation::split) file.punctuation = "split";
  return text_of(file) + "\n";
}

TokenList read_token_list(std::string_view bytes, const std::string& path) {
  const JsonSource source{.name = path,
                          .verdict = "not a tokenizer that heed wrote: ",
                          .hint = "use another checkpoint of the run"};
  TokenizerFile file;
  Faults faults;
  read_json(parse_strict_json(bytes, source), file, faults);
  const auto require = [&](bool right, const std::string& fault) {
    if (!right) source.fail(fault);
  };
  require(file.format == TokenizerFile().format && file.version == 1,
          "\"format\" must be \"heed-tokenizer\", \"version\" 1.");
  require(faults.wrong.empty() && faults.missing.empty(), faults.first());
  const auto& types = TokenizerConfig::kTypeNames;
  TokenList list{.type = static_cast<TokenizerConfig::Type>(std::ranges::find(types, file.type) -
                                                            types.begin())};
  require(list.type <= TokenizerConfig::word, "\"type\" must be \"char\", \"byte\" or \"word\".");
  if (file.punctuation) list.punctuation = Punctuation::split;
  require(!file.punctuation || (list.type == TokenizerConfig::word && file.punctuation == "split"),
          "\"punctuation\" must be \"split\", with type \"word\".");
  require(are_specials(file.special),
          "\"special\" must be [\"<unk>\", \"<s>\", \"</s>\"], then any further names.");
  list.further = {file.special.begin() + Tokenizer::kFirstFurther, file.special.end()};
  list.tokens = std::move(file.tokens);
  const std::string fault = fault_of(list);
  require(fault.empty(), fault + ".");
  return list;
}

std::unique_ptr<Tokenizer> tokenizer_of(TokenList list) {
  if (list.type == TokenizerConfig::byte) return std::make_unique<ByteTokenizer>(list.further);
  if (list.type == TokenizerConfig::char_)
    return std::make_unique<CharTokenizer>(list.further, std::move(list.tokens));
  return std::make_unique<WordTokenizer>(list.further, std::move(list.tokens), list.punctuation);
}

}  // namespace heed
