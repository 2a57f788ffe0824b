#include "text/char_tokenizer.h"

#include <algorithm>

#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace heed {

CharTokenizer::CharTokenizer(const std::vector<std::string>& further,
                             std::vector<char32_t> characters)
    : Tokenizer(TokenizerConfig::char_, further), characters_(std::move(characters)) {
  ids_.assign(std::ranges::max(characters_) + 1, kUnk);
  int id = first_ordinary_id();
  for (const char32_t c : characters_) ids_[c] = id++;
}

void CharTokenizer::scan(std::string_view text, const Sink& sink) const {
  each_code_point(text, [&](CodePoint c, std::size_t at) {
    const int id = c.value < ids_.size() ? ids_[c.value] : kUnk;
    sink({id, at, at + c.length});
  });
}

std::string CharTokenizer::text_after(int, int id) const {
  return is_special(id) ? "" : encode_utf8(characters_[id - first_ordinary_id()]);
}

std::string CharTokenizer::serialize() const {
  std::vector<std::string> tokens;
  for (const char32_t c : characters_) tokens.push_back(encode_utf8(c));
  return tokenizer_json(type(), specials(), tokens);
}

}  // namespace heed
