// One id per Unicode code point. See tokenizer.h for the contract.
#pragma once

#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace heed {

class CharTokenizer final : public Tokenizer {
 public:
  // `characters`: at least one, distinct, in the order of their ids.
  CharTokenizer(const std::vector<std::string>& further, std::vector<char32_t> characters);

  int size() const override { return first_ordinary_id() + static_cast<int>(characters_.size()); }
  void scan(std::string_view text, const Sink& sink) const override;
  std::string text_after(int previous, int id) const override;
  std::string serialize() const override;

 private:
  std::vector<char32_t> characters_;
  std::vector<int> ids_;  // by code point, up to the largest known one; kUnk if unknown
};

}  // namespace heed
