// One id per word and per newline. ASCII whitespace separates words; the newline is itself a token.
// Punctuation stays with its word, or every mark and symbol (Unicode's P and S) is its own word.
// See tokenizer.h for the contract.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "text/tokenizer.h"

namespace heed {

// Allows lookup with a string_view in maps keyed by std::string.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
template <class T>
using StringMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

class WordTokenizer final : public Tokenizer {
 public:
  // `words`: distinct, in id order.
  WordTokenizer(const std::vector<std::string>& further, std::vector<std::string> words,
                Punctuation punctuation = Punctuation::keep);

  // Calls use(begin, end) for every word and newline of the text.
  static void split(std::string_view text, Punctuation punctuation,
                    const std::function<void(std::size_t, std::size_t)>& use);

  int size() const override { return first_ordinary_id() + static_cast<int>(words_.size()); }
  void scan(std::string_view text, const Sink& sink) const override;
  // With Punctuation::split there is no space before . , ; : ! ? % ... or closing brackets and
  // quotes, after opening ones, or on either side of apostrophes, hyphens, slashes and
  // underscores: "don't stop (now)." is restored, "3.14" becomes "3. 14".
  std::string text_after(int previous, int id) const override;
  std::string serialize() const override;

 private:
  std::vector<std::string> words_;
  Punctuation punctuation_;
  StringMap<int> ids_;
};

}  // namespace heed
