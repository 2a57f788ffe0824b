// One id per byte: byte b has id first_ordinary_id() + b. See tokenizer.h for the contract.
#pragma once

#include "text/tokenizer_json.h"

namespace heed {

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

}  // namespace heed
