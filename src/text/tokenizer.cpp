#include "text/tokenizer.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <unordered_set>

#include "base/error.h"
#include "text/piece_tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr std::array<std::string_view, 4> kSpecialNames = {"<unk>", "<s>", "</s>",
                                                           Tokenizer::kMaskText};

bool is_subword(TokenizerConfig::Type type) {
  return type == TokenizerConfig::bpe || type == TokenizerConfig::unigram;
}

}  // namespace

std::string Unknown::summary() const {
  if (count == 0) return "";
  std::string text;
  for (const std::string& kind : kinds) {
    if (!text.empty()) text += ", ";
    text += "'" + printable(kind) + "'";
    const CodePoint c = code_point_at(kind, 0);
    if (static_cast<std::size_t>(c.length) == kind.size() && c.value > 0x7E &&
        c.value != kInvalidCodePoint) {
      text += " (" + code_point_name(c.value) + ")";
    }
  }
  return std::to_string(count) + (count == 1 ? " unknown token: " : " unknown tokens: ") + text +
         (more_kinds ? ", ..." : "");
}

Unknown& Unknown::operator+=(const Unknown& more) {
  count += more.count;
  more_kinds = more_kinds || more.more_kinds;
  for (const std::string& kind : more.kinds) {
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
    if (kinds.size() < kMaxKinds) {
      kinds.push_back(kind);
    } else {
      more_kinds = true;
    }
  }
  return *this;
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
  std::vector<int> ids;
  scan(text, [&](const Token& token) { ids.push_back(token.id); });
  return ids;
}

std::vector<Token> Tokenizer::encode_with_offsets(std::string_view text) const {
  std::vector<Token> tokens;
  scan(text, [&](const Token& token) { tokens.push_back(token); });
  return tokens;
}

std::vector<int> Tokenizer::encode_with_mask(std::string_view text) const {
  if (mask_id() < 0) {
    throw Error(Exit::usage, "This model has no [MASK]: its objective was not masked_lm.");
  }
  std::vector<int> ids;
  while (true) {
    const std::size_t mask = text.find(kMaskText);
    std::string_view before = text.substr(0, mask);
    const bool found = mask != std::string_view::npos;
    if (found && is_subword(type()) && before.ends_with(' ')) before.remove_suffix(1);
    scan(before, [&](const Token& token) { ids.push_back(token.id); });
    if (!found) return ids;
    ids.push_back(mask_id());
    text.remove_prefix(mask + kMaskText.size());
  }
}

Unknown Tokenizer::unknown(std::string_view text, std::size_t max_kinds) const {
  Unknown result;
  std::unordered_set<std::string_view> seen;
  scan(text, [&](const Token& token) {
    if (token.id != kUnk) return;
    ++result.count;
    const std::string_view kind = text.substr(token.begin, token.end - token.begin);
    if (seen.contains(kind)) return;
    if (seen.size() < max_kinds) {
      seen.insert(kind);
      result.kinds.emplace_back(kind);
    } else {
      result.more_kinds = true;
    }
  });
  return result;
}

std::string Tokenizer::decode(std::span<const int> ids, bool show_special) const {
  std::string text;
  int previous = -1;
  for (const int id : ids) {
    assert(0 <= id && id < size());
    if (is_special(id)) {
      if (show_special) text += kSpecialNames[id];
    } else {
      text += text_after(previous, id);
      previous = id;
    }
  }
  return text;
}

std::string Tokenizer::piece(int id) const {
  assert(0 <= id && id < size());
  return is_special(id) ? std::string(kSpecialNames[id]) : ordinary_piece(id);
}

std::optional<int> Tokenizer::find(std::string_view piece_text) const {
  for (int id = size() - 1; id >= first_ordinary_id(); --id) {  // learnt pieces before bytes
    if (ordinary_piece(id) == piece_text) return id;
  }
  for (int id = 0; id < first_ordinary_id(); ++id) {
    if (kSpecialNames[id] == piece_text) return id;
  }
  return std::nullopt;
}

std::string_view Tokenizer::file_name() const {
  return is_subword(type()) ? kTokenizerModel : kTokenizerJson;
}

std::unique_ptr<Tokenizer> load_tokenizer(std::string_view file_name, std::string_view bytes,
                                          const std::string& path) {
  if (bytes.size() > Tokenizer::kMaxFileBytes) {
    throw Error(Exit::store, path + ": has " + std::to_string(bytes.size()) +
                                 " bytes; a tokenizer has at most " +
                                 std::to_string(Tokenizer::kMaxFileBytes) + ".");
  }
  if (file_name == kTokenizerModel) return piece_tokenizer_from_file(bytes, path);
  assert(file_name == kTokenizerJson);
  return tokenizer_from_json(bytes, path);
}

}  // namespace heed
