// One id per byte: byte b has id first_ordinary_id() + b. See tokenizer.h for the contract.
#pragma once

#include <string>

#include "text/tokenizer.h"

namespace heed {

class ByteTokenizer final : public Tokenizer {
 public:
  explicit ByteTokenizer(const std::vector<std::string>& further)
      : Tokenizer(TokenizerConfig::byte, further) {}

  int size() const override { return first_ordinary_id() + 256; }
  void scan(std::string_view text, const Sink& sink) const override;
  std::string text_after(int previous, int id) const override;
  std::string serialize() const override;
};

}  // namespace heed
