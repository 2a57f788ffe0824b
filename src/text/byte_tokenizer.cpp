#include "text/byte_tokenizer.h"

#include "text/tokenizer_json.h"

namespace heed {

void ByteTokenizer::scan(std::string_view text, const Sink& sink) const {
  const int first = first_ordinary_id();
  for (std::size_t at = 0; at < text.size(); ++at)
    sink({first + static_cast<unsigned char>(text[at]), at, at + 1});
}

std::string ByteTokenizer::text_after(int, int id) const {
  return is_special(id) ? "" : std::string(1, static_cast<char>(id - first_ordinary_id()));
}

std::string ByteTokenizer::serialize() const {
  return tokenizer_json(type(), specials(), {});
}

}  // namespace heed
