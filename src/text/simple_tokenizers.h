// The tokenizers that need no training: an id per byte, and an id per character. See tokenizer.h
// for the contract.
#pragma once

#include <algorithm>

#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace heed {

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

}  // namespace heed
