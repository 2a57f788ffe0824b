#include "text/token_list.h"

#include <utf8proc.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/fields.h"
#include "base/std_names.h"
#include "text/utf8.h"

namespace heed {

// As it is stored (base/fields.h).
struct TokenizerFile {
  string format = "heed-tokenizer";
  int64_t version = 1;
  string type;
  optional<string> punctuation = {};
  vector<string> special, tokens;
};
void fields(TokenizerFile& f, auto visit) {
  visit("format", f.format, "version", f.version, "type", f.type, "punctuation", f.punctuation,
        "special", f.special, "tokens", f.tokens);
}

namespace {

constexpr string_view kBlanks = " \t\r\v\f";  // ASCII whitespace except the newline

// The first three of all tokenizers, then others.
bool are_specials(const vector<string>& names) {
  constexpr auto& first = Tokenizer::kFirstSpecials;
  const set<string_view> distinct(names.begin(), names.end());
  return names.size() >= first.size() && std::equal(first.begin(), first.end(), names.begin()) &&
         distinct.size() == names.size() && ranges::all_of(names, is_special_name);
}

// The length of the mark or symbol at text[at], else 0.
size_t mark_length(string_view text, size_t at) {
  const CodePoint c = code_point_at(text, at);
  const int category = utf8proc_category(c.value);
  const bool mark = UTF8PROC_CATEGORY_PC <= category && category <= UTF8PROC_CATEGORY_SO;
  return mark ? c.length : 0;
}

// The sides on which a word has no space.
struct Joins {
  bool left, right;
};

Joins joins_of(string_view word) {
  constexpr u32string_view kBoth = U"'\u2019-\u2010\u2011/_";
  constexpr u32string_view kLeft = U".,;:!?%\u2026\u3001\u3002\uFF0C\uFF0E\uFF1A\uFF1B\uFF01\uFF1F";
  constexpr u32string_view kRight = U"\u00A1\u00BF";
  if (mark_length(word, 0) != word.size()) return {false, false};
  const char32_t mark = code_point_at(word, 0).value;
  const auto category = utf8proc_category(mark);
  const auto in = [&](u32string_view set) { return set.find(mark) != set.npos; };
  return {in(kBoth) || in(kLeft) || category == UTF8PROC_CATEGORY_PE ||
              category == UTF8PROC_CATEGORY_PF,
          in(kBoth) || in(kRight) || category == UTF8PROC_CATEGORY_PS ||
              category == UTF8PROC_CATEGORY_PI};
}

class ListTokenizer : public Tokenizer {
 public:
  explicit ListTokenizer(TokenList list)
      : Tokenizer(list.type, list.further), list_(std::move(list)) {}

  int size() const override { return first_ordinary_id() + list_.tokens.size(); }
  string text_after(int, int id) const override { return is_special(id) ? "" : token(id); }
  string serialize() const override { return tokenizer_json(list_); }

 protected:
  const string& token(int id) const { return list_.tokens[id - first_ordinary_id()]; }

  const TokenList list_;
};

// Byte b has id first_ordinary_id() + b. The list is empty.
class ByteTokenizer final : public ListTokenizer {
 public:
  using ListTokenizer::ListTokenizer;

  int size() const override { return first_ordinary_id() + 256; }

  void scan(string_view text, const Sink& sink) const override {
    const int first = first_ordinary_id();
    for (size_t at = 0; at < text.size(); ++at) sink({first + uint8_t(text[at]), at, at + 1});
  }

  string text_after(int, int id) const override {
    return is_special(id) ? "" : string(1, char(id - first_ordinary_id()));
  }
};

// One id per Unicode code point.
class CharTokenizer final : public ListTokenizer {
 public:
  explicit CharTokenizer(TokenList list) : ListTokenizer(std::move(list)) {
    for (int id = first_ordinary_id(); id < size(); ++id) {
      const char32_t value = code_point_at(token(id), 0).value;
      if (value >= ids_.size()) ids_.resize(value + 1, kUnk);
      ids_[value] = id;
    }
  }

  void scan(string_view text, const Sink& sink) const override {
    each_code_point(text, [&](CodePoint c, size_t at) {
      const int id = c.value < ids_.size() ? ids_[c.value] : kUnk;
      sink({id, at, at + c.length});
    });
  }

 private:
  vector<int> ids_;  // by code point, up to the largest known one; kUnk if unknown
};

// One id per word and per newline, which is itself a token.
class WordTokenizer final : public ListTokenizer {
 public:
  explicit WordTokenizer(TokenList list) : ListTokenizer(std::move(list)) {
    for (int id = first_ordinary_id(); id < size(); ++id) ids_.emplace(token(id), id);
  }

  void scan(string_view text, const Sink& sink) const override {
    each_word(text, list_.punctuation, [&](size_t begin, size_t end) {
      const auto found = ids_.find(text.substr(begin, end - begin));
      sink({found == ids_.end() ? kUnk : found->second, begin, end});
    });
  }

  // With Punctuation::split there is no space before . , ; : ! ? % ... or closing brackets and
  // quotes, after opening ones, or on either side of apostrophes, hyphens, slashes and
  // underscores: "don't stop (now)." is restored, "3.14" becomes "3. 14".
  string text_after(int previous, int id) const override {
    if (is_special(id)) return "";
    const string before = is_special(previous) ? "" : token(previous);
    bool joined = previous < 0 || token(id) == "\n" || before == "\n";
    if (!joined && list_.punctuation == Punctuation::split)
      joined = joins_of(token(id)).left || (!before.empty() && joins_of(before).right);
    return joined ? token(id) : " " + token(id);
  }

 private:
  unordered_map<string_view, int> ids_;  // of the list's tokens
};

}  // namespace

void each_word(string_view text, Punctuation punctuation,
               const function<void(size_t, size_t)>& use) {
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t own = text[at] == '\n'                    ? 1
                       : punctuation == Punctuation::split ? mark_length(text, at)
                                                           : 0;
    if (own == 0 && kBlanks.find(text[at]) == kBlanks.npos) continue;
    if (at > begin) use(begin, at);
    if (own > 0) use(at, at + own);
    begin = at + max<size_t>(own, 1);
    at = begin - 1;
  }
  if (text.size() > begin) use(begin, text.size());
}

string fault_of(const TokenList& list) {
  if (list.tokens.size() + list.further.size() + Tokenizer::kFirstFurther > Tokenizer::kMaxSize)
    return "too many tokens";
  if (list.type == TokenizerConfig::byte)
    return list.tokens.empty() ? "" : "\"tokens\" must be empty";
  if (list.tokens.empty()) return "\"tokens\" is empty";
  unordered_set<string_view> seen;
  for (const string& token : list.tokens) {
    const string shown = "the token \"" + excerpt(token) + "\"";
    if (token.empty()) return "a token is empty";
    if (!seen.insert(token).second) return shown + " appears twice";
    if (list.type == TokenizerConfig::char_ &&
        std::cmp_not_equal(code_point_at(token, 0).length, token.size()))
      return shown + " is more than one character";
    if (list.type == TokenizerConfig::word && token != "\n" &&
        token.find_first_of(" \t\r\v\f\n") != token.npos)
      return shown + " is not a word";
  }
  return "";
}

string tokenizer_json(const TokenList& list) {
  TokenizerFile file{
      .type = string(type_name(list.type)),
      .special = {Tokenizer::kFirstSpecials.begin(), Tokenizer::kFirstSpecials.end()},
      .tokens = list.tokens};
  file.special.insert(file.special.end(), list.further.begin(), list.further.end());
  if (list.punctuation == Punctuation::split) file.punctuation = "split";
  return text_of(file) + "\n";
}

TokenList read_token_list(string_view bytes, const string& path) {
  const JsonSource source{.name = path,
                          .verdict = "not a tokenizer that heed wrote: ",
                          .hint = "use another checkpoint of the run"};
  TokenizerFile file;
  Faults faults;
  read_json(parse_strict_json(bytes, source), file, faults);
  const auto require = [&](bool right, const string& fault) {
    if (!right) source.fail(fault);
  };
  require(file.format == TokenizerFile().format && file.version == 1,
          "\"format\" must be \"heed-tokenizer\", \"version\" 1.");
  require(faults.wrong.empty() && faults.missing.empty(), faults.first());
  const auto& types = TokenizerConfig::kTypeNames;
  TokenList list{.type = TokenizerConfig::Type(ranges::find(types, file.type) - types.begin())};
  require(list.type <= TokenizerConfig::word, "\"type\" must be \"char\", \"byte\" or \"word\".");
  if (file.punctuation) list.punctuation = Punctuation::split;
  require(!file.punctuation || (list.type == TokenizerConfig::word && file.punctuation == "split"),
          "\"punctuation\" must be \"split\", with type \"word\".");
  require(are_specials(file.special),
          "\"special\" must be [\"<unk>\", \"<s>\", \"</s>\"], then any further names.");
  list.further = {file.special.begin() + Tokenizer::kFirstFurther, file.special.end()};
  list.tokens = std::move(file.tokens);
  const string fault = fault_of(list);
  require(fault.empty(), fault + ".");
  return list;
}

unique_ptr<Tokenizer> tokenizer_of(TokenList list) {
  if (list.type == TokenizerConfig::byte) return make_unique<ByteTokenizer>(std::move(list));
  if (list.type == TokenizerConfig::char_) return make_unique<CharTokenizer>(std::move(list));
  return make_unique<WordTokenizer>(std::move(list));
}

}  // namespace heed
