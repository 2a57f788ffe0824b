#include "text/word_tokenizer.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace heed {
namespace {

// ASCII whitespace except the newline.
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

// The length of the mark or symbol at text[at], else 0.
std::size_t mark_length(std::string_view text, std::size_t at) {
  const CodePoint c = code_point_at(text, at);
  const int category = utf8proc_category(static_cast<utf8proc_int32_t>(c.value));
  const bool mark = UTF8PROC_CATEGORY_PC <= category && category <= UTF8PROC_CATEGORY_SO;
  return mark ? static_cast<std::size_t>(c.length) : 0;
}

// The sides on which a word has no space.
struct Joins {
  bool left, right;
};

Joins joins_of(std::string_view word) {
  constexpr std::u32string_view kBoth = U"'\u2019-\u2010\u2011/_";
  constexpr std::u32string_view kLeft =
      U".,;:!?%\u2026\u3001\u3002\uFF0C\uFF0E\uFF1A\uFF1B\uFF01\uFF1F";
  constexpr std::u32string_view kRight = U"\u00A1\u00BF";
  if (mark_length(word, 0) != word.size()) return {false, false};
  const char32_t mark = code_point_at(word, 0).value;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(mark));
  const auto in = [&](std::u32string_view set) { return set.find(mark) != set.npos; };
  return {in(kBoth) || in(kLeft) || category == UTF8PROC_CATEGORY_PE ||
              category == UTF8PROC_CATEGORY_PF,
          in(kBoth) || in(kRight) || category == UTF8PROC_CATEGORY_PS ||
              category == UTF8PROC_CATEGORY_PI};
}

}  // namespace

WordTokenizer::WordTokenizer(const std::vector<std::string>& further,
                             std::vector<std::string> words, Punctuation punctuation)
    : Tokenizer(TokenizerConfig::word, further),
      words_(std::move(words)),
      punctuation_(punctuation) {
  int id = first_ordinary_id();
  for (const std::string& word : words_) ids_.emplace(word, id++);
}

void WordTokenizer::split(std::string_view text, Punctuation punctuation,
                          const std::function<void(std::size_t, std::size_t)>& use) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool newline = text[at] == '\n';
    const std::size_t own = newline                             ? 1
                            : punctuation == Punctuation::split ? mark_length(text, at)
                                                                : 0;
    if (own == 0 && !is_blank(text[at])) continue;
    if (at > begin) use(begin, at);
    if (own > 0) use(at, at + own);
    begin = at + std::max<std::size_t>(own, 1);
    at = begin - 1;
  }
  if (text.size() > begin) use(begin, text.size());
}

void WordTokenizer::scan(std::string_view text, const Sink& sink) const {
  split(text, punctuation_, [&](std::size_t begin, std::size_t end) {
    const auto found = ids_.find(text.substr(begin, end - begin));
    sink({found == ids_.end() ? kUnk : found->second, begin, end});
  });
}

std::string WordTokenizer::text_after(int previous, int id) const {
  if (is_special(id)) return "";
  const auto word = [&](int i) -> const std::string& { return words_[i - first_ordinary_id()]; };
  const std::string_view before = is_special(previous) ? std::string_view() : word(previous);
  bool joined = previous < 0 || word(id) == "\n" || before == "\n";
  if (!joined && punctuation_ == Punctuation::split)
    joined = joins_of(word(id)).left || (!before.empty() && joins_of(before).right);
  return joined ? word(id) : " " + word(id);
}

std::string WordTokenizer::serialize() const {
  return tokenizer_json(type(), specials(), words_, punctuation_);
}

}  // namespace heed
