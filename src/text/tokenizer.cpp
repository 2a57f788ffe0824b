#include "text/tokenizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>

#include "base/format.h"
#include "base/std_names.h"
#include "text/piece_model.h"
#include "text/token_list.h"
#include "text/utf8.h"

namespace heed {

static constexpr string_view kSource = "source_";  // begins the file of a separate source

static constexpr size_t kMostKinds = 20;  // shown; one more is kept, to tell that there are more

string Unknown::summary() const {
  if (count == 0) return "";
  vector<string> words;
  for (const string& kind : kinds) {
    const CodePoint c = code_point_at(kind, 0);
    const bool named =
        std::cmp_equal(c.length, kind.size()) && c.value > 0x7E && c.value != kInvalidCodePoint;
    words.push_back(
        fmt::format("'{}'{}", excerpt(kind), named ? " (" + code_point_name(c.value) + ")" : ""));
  }
  if (words.size() > kMostKinds) words.back() = "...";
  return fmt::format("{}: {}", counted(to_string(count), "unknown token"), joined(words));
}

void Unknown::add(string_view kind) {
  constexpr size_t kMostBytes = 400;
  ++count;
  kind = kind.substr(0, utf8_floor(kind, kMostBytes));
  if (kinds.size() <= kMostKinds && ranges::count(kinds, kind) == 0) kinds.emplace_back(kind);
}

Unknown& Unknown::operator+=(const Unknown& more) {
  const size_t sum = count + more.count;
  for (const string& kind : more.kinds) add(kind);
  count = sum;
  return *this;
}

vector<int> Tokenizer::encode(string_view text) const {
  vector<int> ids;
  scan(text, [&](const Token& token) { ids.push_back(token.id); });
  return ids;
}

void Tokenizer::split_at_specials(string_view text,
                                  const function<void(string_view, int)>& use) const {
  while (true) {
    size_t first = string_view::npos, length = 0;
    int id = -1;
    for (int i = kFirstFurther; i < first_ordinary_id(); ++i) {
      const size_t at = text.find(specials_[i]), n = specials_[i].size();
      if (at == string_view::npos || at > first || (at == first && n < length)) continue;
      first = at;
      length = n;  // the longer of two names that begin here
      id = i;
    }
    use(text.substr(0, first), id);
    if (id < 0) return;
    text.remove_prefix(first + length);
  }
}

vector<Token> Tokenizer::tokens_with_specials(string_view text) const {
  vector<Token> tokens;
  split_at_specials(text, [&](string_view part, int special) {
    const size_t begin = part.data() - text.data();
    const size_t end = begin + part.size();
    if (special >= 0 && is_subword(type()) && part.ends_with(' ')) part.remove_suffix(1);
    scan(part, [&](const Token& token) {
      tokens.push_back({token.id, begin + token.begin, begin + token.end});
    });
    if (special >= 0)
      tokens.push_back({special, begin + part.size(), end + specials_[special].size()});
  });
  return tokens;
}

Unknown Tokenizer::unknown(string_view text) const {
  Unknown result;
  scan(text, [&](const Token& token) {
    if (token.id == kUnk) result.add(text.substr(token.begin, token.end - token.begin));
  });
  return result;
}

string Tokenizer::decode(span<const int> ids, bool show_special) const {
  string text;
  int previous = -1;
  for (const int id : ids) {
    assert(0 <= id && id < size());
    if (is_special(id)) {
      if (show_special) text += specials_[id];
    } else {
      text += text_after(previous, id);
      previous = id;
    }
  }
  return text;
}

string Tokenizer::piece(int id) const {
  assert(0 <= id && id < size());
  return is_special(id) ? specials_[id] : ordinary_piece(id);
}

string Tokenizer::ordinary_piece(int id) const {
  return printable(text_after(-1, id));
}

bool is_special_name(string_view name) {
  const auto printable = [](char c) { return c > ' ' && c < '\x7F'; };
  return !name.empty() && name.size() <= 256 && ranges::all_of(name, printable);
}

unique_ptr<Tokenizer> load_tokenizer(string_view file_name, string_view bytes, const string& path) {
  if (bytes.size() > Tokenizer::kMaxFileBytes)
    throw store_error("{}: {} bytes; a tokenizer file has at most {}.", path, bytes.size(),
                      Tokenizer::kMaxFileBytes);
  if (file_name == kTokenizerModel) return tokenizer_of(read_piece_model(bytes, path), path);
  if (file_name != kTokenizerJson) throw store_error("{} is not a heed tokenizer.", path);
  return tokenizer_of(read_token_list(bytes, path));
}

vector<NamedBytes> Tokenizers::files() const {
  vector<NamedBytes> files{{string(target->file_name()), target->serialize()}};
  if (separate_source)
    files.push_back(
        {string(kSource) + string(separate_source->file_name()), separate_source->serialize()});
  return files;
}

Tokenizers Tokenizers::load(span<const NamedBytes> files, const fs::path& folder) {
  Tokenizers t;
  for (const NamedBytes& file : files) {
    string_view name = file.name;
    const bool source = name.starts_with(kSource);
    if (source) name.remove_prefix(kSource.size());
    (source ? t.separate_source : t.target) = load_tokenizer(name, file.bytes, folder / file.name);
  }
  if (!t.target) throw store_error("{} has no tokenizer.", folder.string());
  return t;
}

}  // namespace heed
