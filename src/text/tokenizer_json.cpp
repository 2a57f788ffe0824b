#include "text/tokenizer_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_set>

#include "base/error.h"
#include "text/byte_tokenizer.h"
#include "text/char_tokenizer.h"
#include "text/utf8.h"
#include "text/word_tokenizer.h"

namespace heed {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "heed-tokenizer";

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(Exit::store, path + ": not a tokenizer that heed wrote: " + what + ".",
              "use another checkpoint of the run");
}

const json& member(const json& object, const char* key, const std::string& path) {
  const auto found = object.find(key);
  if (found == object.end()) refuse(path, std::string("\"") + key + "\" is missing");
  return *found;
}

std::vector<std::string> strings(const json& object, const char* key, const std::string& path) {
  const json& list = member(object, key, path);
  const bool sound = list.is_array() && std::all_of(list.begin(), list.end(), [](const json& item) {
                       return item.is_string();
                     });
  if (!sound) refuse(path, std::string("\"") + key + "\" must be a list of strings");
  return list.get<std::vector<std::string>>();
}

TokenizerConfig::Type type_of(const json& file, const std::string& path) {
  const json& name = member(file, "type", path);
  for (const auto type : {TokenizerConfig::char_, TokenizerConfig::byte, TokenizerConfig::word}) {
    if (name.is_string() && name.get_ref<const std::string&>() == type_name(type)) return type;
  }
  refuse(path, "\"type\" must be \"char\", \"byte\" or \"word\"");
}

bool is_word(const std::string& token) {
  return token == "\n" || token.find_first_of(" \t\r\v\f\n") == std::string::npos;
}

// The names of the further special tokens.
std::vector<std::string> further_specials(const std::vector<std::string>& names,
                                          const std::string& path) {
  constexpr auto& first = Tokenizer::kFirstSpecials;
  const std::set<std::string_view> distinct(names.begin(), names.end());
  if (names.size() < first.size() || !std::equal(first.begin(), first.end(), names.begin()) ||
      distinct.size() != names.size() || !std::ranges::all_of(names, is_special_name))
    refuse(path, "\"special\" must be [\"<unk>\", \"<s>\", \"</s>\"], or these and further names");
  return {names.begin() + first.size(), names.end()};
}

void check_tokens(TokenizerConfig::Type type, const std::vector<std::string>& tokens,
                  const std::string& path) {
  if (type == TokenizerConfig::byte && !tokens.empty()) refuse(path, "\"tokens\" must be empty");
  if (type != TokenizerConfig::byte && tokens.empty()) refuse(path, "\"tokens\" is empty");
  std::unordered_set<std::string_view> seen;
  for (const std::string& token : tokens) {
    const std::string shown = "the token \"" + printable(token) + "\"";
    if (token.empty()) refuse(path, "a token is empty");
    if (!seen.insert(token).second) refuse(path, shown + " is there twice");
    if (type == TokenizerConfig::char_ &&
        static_cast<std::size_t>(code_point_at(token, 0).length) != token.size()) {
      refuse(path, shown + " is more than one character");
    }
    if (type == TokenizerConfig::word && !is_word(token)) refuse(path, shown + " is no word");
  }
}

}  // namespace

std::string tokenizer_json(TokenizerConfig::Type type, const std::vector<std::string>& specials,
                           const std::vector<std::string>& tokens) {
  nlohmann::ordered_json file;
  file["format"] = kFormat;
  file["version"] = 1;
  file["type"] = type_name(type);
  file["special"] = specials;
  file["tokens"] = tokens;
  return file.dump() + "\n";
}

std::unique_ptr<Tokenizer> tokenizer_from_json(std::string_view bytes, const std::string& path) {
  const json file = json::parse(bytes.begin(), bytes.end(), nullptr, false);  // checks UTF-8 too
  if (file.is_discarded()) refuse(path, "it is not valid JSON");
  if (!file.is_object()) refuse(path, "it is not a JSON object");
  if (member(file, "format", path) != kFormat) {
    refuse(path, "\"format\" must be \"heed-tokenizer\"");
  }
  if (member(file, "version", path) != 1) refuse(path, "\"version\" must be 1");
  const auto type = type_of(file, path);
  const auto further = further_specials(strings(file, "special", path), path);
  auto tokens = strings(file, "tokens", path);
  if (tokens.size() + further.size() + Tokenizer::kFirstFurther > Tokenizer::kMaxSize)
    refuse(path, "too many tokens");
  check_tokens(type, tokens, path);
  if (type == TokenizerConfig::byte) return std::make_unique<ByteTokenizer>(further);
  if (type == TokenizerConfig::word)
    return std::make_unique<WordTokenizer>(further, std::move(tokens));
  std::vector<char32_t> characters;
  for (const std::string& token : tokens) characters.push_back(code_point_at(token, 0).value);
  return std::make_unique<CharTokenizer>(further, std::move(characters));
}

}  // namespace heed
