#include "text/tokenizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>

#include "base/error.h"
#include "base/format.h"
#include "text/piece_tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr std::string_view kSource = "source_";

}  // namespace

std::string Unknown::summary() const {
  if (count == 0) return "";
  std::string text;
  for (const std::string& kind : kinds) {
    if (!text.empty()) text += ", ";
    text += "'" + excerpt(kind) + "'";
    const CodePoint c = code_point_at(kind, 0);
    if (static_cast<std::size_t>(c.length) == kind.size() && c.value > 0x7E &&
        c.value != kInvalidCodePoint)
      text += " (" + code_point_name(c.value) + ")";
  }
  return fmt::format("{}: {}{}", counted(std::to_string(count), "unknown token"), text,
                     more_kinds ? ", ..." : "");
}

std::string Unknown::most_frequent() const {
  std::vector<std::pair<std::size_t, std::string_view>> order;
  for (const auto& [kind, times] : counts) order.emplace_back(times, kind);
  std::ranges::stable_sort(order, std::greater(), &std::pair<std::size_t, std::string_view>::first);
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, order.size()); ++i)
    text +=
        fmt::format("{}'{}' ({}{})", i == 0 ? "" : ", ", excerpt(order[i].second), order[i].first,
                    i > 0                 ? ""
                    : order[i].first == 1 ? " time"
                                          : " times");
  return text;
}

void Unknown::add(std::string_view kind, std::size_t times) {
  constexpr std::size_t kMaxBytes = 400;
  count += times;
  if (kind.size() > kMaxBytes) kind = kind.substr(0, utf8_floor(kind, kMaxBytes));
  if (const auto found = counts.find(kind); found != counts.end()) {
    found->second += times;
    return;
  }
  if (counts.size() < kMaxCounted) counts.emplace(kind, times);
  if (kinds.size() < kMaxKinds)
    kinds.emplace_back(kind);
  else
    more_kinds = true;
}

Unknown& Unknown::operator+=(const Unknown& more) {
  const std::size_t sum = count + more.count;
  for (const std::string& kind : more.kinds) add(kind, more.counts.at(kind));
  for (const auto& [kind, times] : more.counts)
    if (std::ranges::find(more.kinds, kind) == more.kinds.end()) add(kind, times);
  count = sum;  // those without a place among the counts too
  return *this;
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
  std::vector<int> ids;
  scan(text, [&](const Token& token) { ids.push_back(token.id); });
  return ids;
}

void Tokenizer::split_at_specials(std::string_view text,
                                  const std::function<void(std::string_view, int)>& use) const {
  while (true) {
    std::size_t first = std::string_view::npos, length = 0;
    int id = -1;
    for (int i = kFirstFurther; i < first_ordinary_id(); ++i) {
      const std::size_t at = text.find(specials_[i]), n = specials_[i].size();
      if (at == std::string_view::npos || at > first || (at == first && n < length)) continue;
      first = at;
      length = n;  // the longer of two names that begin here
      id = i;
    }
    use(text.substr(0, first), id);
    if (id < 0) return;
    text.remove_prefix(first + length);
  }
}

std::vector<Token> Tokenizer::tokens_with_specials(std::string_view text) const {
  std::vector<Token> tokens;
  split_at_specials(text, [&](std::string_view part, int special) {
    const auto begin = static_cast<std::size_t>(part.data() - text.data());
    const std::size_t end = begin + part.size();
    if (special >= 0 && is_subword(type()) && part.ends_with(' ')) part.remove_suffix(1);
    scan(part, [&](const Token& token) {
      tokens.push_back({token.id, begin + token.begin, begin + token.end});
    });
    if (special >= 0)
      tokens.push_back({special, begin + part.size(), end + specials_[special].size()});
  });
  return tokens;
}

Unknown Tokenizer::unknown(std::string_view text) const {
  Unknown result;
  scan(text, [&](const Token& token) {
    if (token.id == kUnk) result.add(text.substr(token.begin, token.end - token.begin));
  });
  return result;
}

std::string Tokenizer::decode(std::span<const int> ids, bool show_special) const {
  std::string text;
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

std::string Tokenizer::piece(int id) const {
  assert(0 <= id && id < size());
  return is_special(id) ? specials_[id] : ordinary_piece(id);
}

std::vector<std::string> Tokenizer::pieces(std::span<const int> ids) const {
  std::vector<std::string> texts;
  for (const int id : ids) texts.push_back(piece(id));
  return texts;
}

std::string Tokenizer::ordinary_piece(int id) const {
  return printable(text_after(-1, id));
}

std::string_view Tokenizer::file_name() const {
  return is_subword(type()) ? kTokenizerModel : kTokenizerJson;
}

bool is_special_name(std::string_view name) {
  const auto printable = [](char c) { return c > ' ' && c < '\x7F'; };
  return !name.empty() && name.size() <= 256 && std::ranges::all_of(name, printable);
}

std::unique_ptr<Tokenizer> load_tokenizer(std::string_view file_name, std::string_view bytes,
                                          const std::string& path) {
  if (bytes.size() > Tokenizer::kMaxFileBytes)
    throw Error(Exit::store, fmt::format("{}: {} bytes; a tokenizer file has at most {}.", path,
                                         bytes.size(), Tokenizer::kMaxFileBytes));
  if (file_name == kTokenizerModel) return piece_tokenizer_from_file(bytes, path);
  assert(file_name == kTokenizerJson);
  return tokenizer_of(read_token_list(bytes, path));
}

std::vector<NamedBytes> Tokenizers::files() const {
  std::vector<NamedBytes> files{{std::string(target->file_name()), target->serialize()}};
  if (separate_source)
    files.push_back({std::string(kSource) + std::string(separate_source->file_name()),
                     separate_source->serialize()});
  return files;
}

Tokenizers Tokenizers::load(std::span<const NamedBytes> files,
                            const std::filesystem::path& folder) {
  Tokenizers t;
  for (const NamedBytes& file : files) {
    std::string_view name = file.name;
    const bool source = name.starts_with(kSource);
    if (source) name.remove_prefix(kSource.size());
    if (name != kTokenizerJson && name != kTokenizerModel)
      throw Error(Exit::store, (folder / file.name).string() + " is not a heed tokenizer.");
    (source ? t.separate_source : t.target) =
        load_tokenizer(name, file.bytes, (folder / file.name).string());
  }
  if (!t.target) throw Error(Exit::store, folder.string() + " has no tokenizer.");
  return t;
}

}  // namespace heed
