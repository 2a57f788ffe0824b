// Text to ids and back.
//
// Ids: 0 <unk>, 1 <s>, 2 </s>, then the further special tokens that an objective needs ("[MASK]"),
// then what was learnt. Special ids never come out of text: "<s>" or "[MASK]" written in a text is
// that text (only encode_with_specials reads the names of further ones as these). A Tokenizer is
// immutable: all methods may be called from many threads at once. Ids do not depend on what stands
// before or after a line, nor between words, so a corpus cut at newlines or before spaces gives the
// same ids as the whole.
//
//   char     one id per Unicode code point; unknown ones are <unk>
//   byte     one id per byte; any bytes at all
//   word     one id per whitespace-separated word and per newline; decode puts one space between
//            words and none beside a newline
//   bpe      SentencePiece pieces with byte fallback; nothing is unknown
//   unigram  the same, pieces chosen by another rule
//
// decode(encode(x)) == x for every x with byte, bpe and unigram; with char for every x of known
// characters.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/tokenizer_config.h"

namespace heed {

struct Token {
  int id;
  std::size_t begin, end;  // its bytes in the text; several byte tokens of a character are apart
};

// What of a text has no id of its own.
struct Unknown {
  std::size_t count = 0;           // tokens that became <unk>
  std::vector<std::string> kinds;  // distinct ones, in order of appearance, as in the text
  bool more_kinds = false;         // there were more than were kept
  // "3 unknown tokens: 'é' (U+00E9), 'x'" ; empty if there are none
  std::string summary() const;
  static constexpr std::size_t kMaxKinds = 20;
  Unknown& operator+=(const Unknown& more);  // keeps at most kMaxKinds
};

class Tokenizer {
 public:
  static constexpr int kUnk = 0;
  static constexpr int kBos = 1;
  static constexpr int kEos = 2;
  static constexpr std::array kFirstSpecials = {"<unk>", "<s>", "</s>"};
  static constexpr int kFirstFurther = kFirstSpecials.size();  // id of the next special token
  static constexpr std::size_t kMaxFileBytes = 32 << 20;       // load_tokenizer refuses more
  static constexpr int kMaxSize = 1'000'000;                   // and more ids

  virtual ~Tokenizer() = default;

  virtual TokenizerConfig::Type type() const = 0;
  virtual int size() const = 0;  // number of ids
  // The names of all special tokens, by id.
  const std::vector<std::string>& specials() const { return specials_; }
  int first_ordinary_id() const { return static_cast<int>(specials_.size()); }
  bool is_special(int id) const { return id < first_ordinary_id(); }

  // Calls sink for every token of the text, in order. The other ways of encoding stand on it; use
  // it to store ids in less memory than a vector<int>.
  using Sink = std::function<void(const Token&)>;
  virtual void scan(std::string_view text, const Sink& sink) const = 0;

  std::vector<int> encode(std::string_view text) const;
  std::vector<Token> encode_with_offsets(std::string_view text) const;
  // Calls use(part, id) for the parts of a text that stand before the name of a further special
  // token, with that token's id, and last for the rest, with -1.
  void split_at_specials(std::string_view text,
                         const std::function<void(std::string_view, int)>& use) const;
  // Like encode, but the name of a further special token stands for it. With bpe and unigram one
  // space before it belongs to it, as the space before a word belongs to the word's first piece.
  std::vector<int> encode_with_specials(std::string_view text) const;
  // At most max_kinds distinct ones are kept; all are counted.
  Unknown unknown(std::string_view text, std::size_t max_kinds = Unknown::kMaxKinds) const;

  // What `id` adds to a text whose last token that gave something was `previous` (-1: none yet).
  // Special ids add nothing. Bytes: a character may be spread over several byte tokens.
  virtual std::string text_after(int previous, int id) const = 0;
  // Special ids give nothing, or their names if show_special.
  std::string decode(std::span<const int> ids, bool show_special = false) const;

  // One token for people: control characters escaped as by printable(), special ids by name,
  // pieces of bpe and unigram with U+2581 for a space.
  std::string piece(int id) const;
  // The id whose piece() this is; special names only if no ordinary token is written so.
  std::optional<int> find(std::string_view piece) const;

  // The bytes of the file `file_name()` in a checkpoint; the same tokenizer gives the same bytes.
  std::string_view file_name() const;  // "tokenizer.model" for bpe, unigram; else "tokenizer.json"
  virtual std::string serialize() const = 0;

 protected:
  // `further`: the names of further special tokens.
  explicit Tokenizer(const std::vector<std::string>& further)
      : specials_(kFirstSpecials.begin(), kFirstSpecials.end()) {
    specials_.insert(specials_.end(), further.begin(), further.end());
  }
  virtual std::string ordinary_piece(int id) const = 0;

 private:
  std::vector<std::string> specials_;
};

// May a further special token have this name? Printable ASCII without a space, at most 256 bytes.
bool is_special_name(std::string_view name);

// The two file names a checkpoint may hold.
inline constexpr std::string_view kTokenizerJson = "tokenizer.json";
inline constexpr std::string_view kTokenizerModel = "tokenizer.model";

// From the bytes of a file of that name. Whatever the bytes, either a sound tokenizer or an Error
// (store) that names `path`.
std::unique_ptr<Tokenizer> load_tokenizer(std::string_view file_name, std::string_view bytes,
                                          const std::string& path);

}  // namespace heed
