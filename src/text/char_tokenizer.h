// One id per Unicode code point. See tokenizer.h for the contract.
#pragma once

#include <algorithm>

#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace heed {

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
