#include "text/word_tokenizer.h"

#include "text/tokenizer_json.h"

namespace heed {
namespace {

// ASCII whitespace except the newline.
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

}  // namespace

WordTokenizer::WordTokenizer(const std::vector<std::string>& further,
                             std::vector<std::string> words)
    : Tokenizer(TokenizerConfig::word, further), words_(std::move(words)) {
  int id = first_ordinary_id();
  for (const std::string& word : words_) ids_.emplace(word, id++);
}

void WordTokenizer::split(std::string_view text,
                          const std::function<void(std::size_t, std::size_t)>& use) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool newline = text[at] == '\n';
    if (!newline && !is_blank(text[at])) continue;
    if (at > begin) use(begin, at);
    if (newline) use(at, at + 1);
    begin = at + 1;
  }
  if (text.size() > begin) use(begin, text.size());
}

void WordTokenizer::scan(std::string_view text, const Sink& sink) const {
  split(text, [&](std::size_t begin, std::size_t end) {
    const auto found = ids_.find(text.substr(begin, end - begin));
    sink({found == ids_.end() ? kUnk : found->second, begin, end});
  });
}

std::string WordTokenizer::text_after(int previous, int id) const {
  if (is_special(id)) return "";
  const auto word = [&](int i) -> const std::string& { return words_[i - first_ordinary_id()]; };
  const bool joined = previous < 0 || word(id) == "\n" || word(previous) == "\n";
  return joined ? word(id) : " " + word(id);
}

std::string WordTokenizer::serialize() const {
  return tokenizer_json(type(), specials(), words_);
}

}  // namespace heed
