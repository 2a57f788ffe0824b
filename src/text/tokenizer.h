// Text to ids and back.
//
// Ids: 0 <unk>, 1 <s>, 2 </s>, then the further special tokens that an objective needs ("[MASK]"),
// then the learnt ones. Encoding a text never gives special ids: "<s>" or "[MASK]" in a text is
// ordinary text (only tokens_with_specials recognises further special tokens). A Tokenizer
// is immutable: many threads may call all methods at once. The ids of a line or a word do not
// depend on its neighbours, so a corpus cut at newlines or before spaces gives the same ids as the
// whole.
//
//   char     one id per Unicode code point; unknown ones are <unk>
//   byte     one id per byte; takes any bytes
//   word     one id per whitespace-separated word and per newline; decode puts one space between
//            words and none next to a newline. With tokenizer.punctuation "split", a punctuation
//            mark is a word; decode then places spaces by rules (token_list.cpp) that do not
//            restore every text
//   bpe      SentencePiece pieces with byte fallback (Sennrich et al. 2016); nothing is unknown
//   unigram  the same, with pieces of a unigram language model (Kudo 2018)
//
// decode(encode(x)) == x for every x with byte, bpe and unigram; with char if all characters of x
// are known.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/std_names.h"
#include "config/data_config.h"

namespace heed {

// The two possible file names.
inline constexpr string_view kTokenizerJson = "tokenizer.json";
inline constexpr string_view kTokenizerModel = "tokenizer.model";

struct Token {
  int id;
  size_t begin, end;  // its bytes in the text; a byte token has one byte
};

// The parts of a text that became <unk>.
struct Unknown {
  size_t count = 0;      // of <unk> tokens
  vector<string> kinds;  // distinct, in order of appearance, as in the text; the first ones

  // "3 unknown tokens: 'é' (U+00E9), 'x'", or "" for none
  string summary() const;
  void add(string_view kind);  // of a very long one, the beginning
  Unknown& operator+=(const Unknown& more);
};

class Tokenizer {
 public:
  static constexpr int kUnk = 0;
  static constexpr int kBos = 1;
  static constexpr int kEos = 2;
  static constexpr array kFirstSpecials = {"<unk>", "<s>", "</s>"};
  static constexpr int kFirstFurther = kFirstSpecials.size();  // id of the next special token
  static constexpr size_t kMaxFileBytes = 32 << 20;            // the limit of load_tokenizer
  static constexpr int kMaxSize = 1'000'000;                   // most ids

  virtual ~Tokenizer() = default;

  TokenizerConfig::Type type() const { return type_; }
  virtual int size() const = 0;  // number of ids
  // The names of all special tokens, by id.
  const vector<string>& specials() const { return specials_; }
  int first_ordinary_id() const { return specials_.size(); }
  bool is_special(int id) const { return id < first_ordinary_id(); }

  // Calls sink for every token of the text, in order. All other encoding methods use it. It also
  // lets callers store ids in less memory than a vector<int>.
  using Sink = function<void(const Token&)>;
  virtual void scan(string_view text, const Sink& sink) const = 0;

  vector<int> encode(string_view text) const;
  // Calls use(part, id) for the text before each name of a further special token, with that token's
  // id, and then for the rest with -1.
  void split_at_specials(string_view text, const function<void(string_view, int)>& use) const;
  // Like encode, but the name of a further special token becomes its id. With bpe and unigram the
  // name includes one space before it, like the first piece of a word.
  vector<Token> tokens_with_specials(string_view text) const;
  Unknown unknown(string_view text) const;

  // The text that `id` adds after `previous`, the last token that is not special (-1: none); after
  // <unk> as after any word.
  // Special ids add nothing. Several byte tokens may make up one character.
  virtual string text_after(int previous, int id) const = 0;
  // Special ids add nothing, or their names if show_special.
  string decode(span<const int> ids, bool show_special = false) const;

  // One token for display: control characters as in printable(), special ids by name, pieces of bpe
  // and unigram with U+2581 for a space, their bytes as <0x65>.
  string piece(int id) const;
  vector<string> pieces(span<const int> ids) const {
    return mapped(ids, [&](int id) { return piece(id); });
  }

  // The bytes of the file `file_name()` in a checkpoint; the same tokenizer gives the same bytes.
  string_view file_name() const { return is_subword(type()) ? kTokenizerModel : kTokenizerJson; }
  virtual string serialize() const = 0;

 protected:
  // `further`: the names of further special tokens.
  Tokenizer(TokenizerConfig::Type type, const vector<string>& further)
      : type_(type), specials_(kFirstSpecials.begin(), kFirstSpecials.end()) {
    specials_.insert(specials_.end(), further.begin(), further.end());
  }
  // The piece() of an id that is not special.
  virtual string ordinary_piece(int id) const;

 private:
  TokenizerConfig::Type type_;
  vector<string> specials_;
};

// A valid name of a further special token is printable ASCII without spaces, at most 256 bytes.
bool is_special_name(string_view name);

// Reads the bytes of a file with that name. Any bytes give a valid tokenizer or an Error (store)
// that names `path`.
unique_ptr<Tokenizer> load_tokenizer(string_view file_name, string_view bytes, const string& path);

// The tokenizers of a model (one, or one for each side with tokenizer.shared: false), and their
// files in a checkpoint.
struct NamedBytes {
  string name;  // e.g. "tokenizer.json"
  string bytes;
  bool operator==(const NamedBytes&) const = default;
};

struct Tokenizers {
  unique_ptr<Tokenizer> target, separate_source;
  const Tokenizer& source() const { return separate_source ? *separate_source : *target; }

  // tokenizer.json or tokenizer.model; with two, the source's starts with "source_".
  vector<NamedBytes> files() const;
  // Reads these files from `folder`. Error (store) for a file that heed did not write.
  static Tokenizers load(span<const NamedBytes> files, const fs::path& folder);
};

}  // namespace heed
