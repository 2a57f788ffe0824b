#include "data/user_text.h"

#include <fmt/core.h>

#include "base/error.h"
#include "data/corpus.h"
#include "data/data_files.h"

namespace heed {

std::string UserTexts::normalized(Side side, std::string_view text, const std::string& name) const {
  if (!read_options(config_).any_bytes) check_utf8(text, name);
  if (!config_.data.changes_text()) return std::string(text);
  std::string read;
  tokenizer(side).split_at_specials(text, [&](std::string_view part, int special) {
    read += as_read(part, read_options(config_));
    if (special >= 0) read += tokenizer(side).piece(special);
  });
  return read;
}

TokenIds UserTexts::encode(Side side, const std::string& text, const std::string& name,
                           Unknown& unknown) const {
  const std::string read = normalized(side, text, name);
  const Tokenizer& of_side = tokenizer(side);
  of_side.split_at_specials(read,
                            [&](std::string_view part, int) { unknown += of_side.unknown(part); });
  return of_side.encode_with_specials(read);
}

TokenIds UserTexts::encode_known(Side side, const std::string& text,
                                 const std::string& name) const {
  Unknown unknown;
  TokenIds ids = encode(side, text, name, unknown);
  if (unknown.count > 0)
    throw Error(Exit::data,
                fmt::format("{} has {}. The model has no id for {}.", name, unknown.summary(),
                            unknown.count == 1 ? "it" : "them"),
                "heed tokenize shows what it knows");
  return ids;
}

TokenIds UserTexts::prompt(const std::string& text) {
  const std::string name = "the prompt";
  if (objective_.traits().pairs() && text.find('\n') != std::string::npos)
    throw Error(Exit::data, name + " has several lines; this model translates one line.",
                "heed translate");
  const Side side = objective_.text_side();
  TokenIds ids = encode_known(side, text, name);
  if (!objective_.continues())
    check_length(side, objective_.framed(side, ids).size(), name);
  else if (const int longest = objective_.longest(side); std::ssize(ids) > longest)
    warn(fmt::format("{} has {} tokens; the model reads only the last {}", name, ids.size(),
                     longest));
  return ids;
}

TokenIds UserTexts::known(Side side, const std::string& text, const std::string& name) {
  if (text.empty() && side == objective_.text_side())
    throw Error(Exit::data, name + " is empty; expected a text.",
                objective_.traits().scored_given == Given::maybe_source
                    ? "--target alone, which is read as the beginning of a text"
                    : "");
  TokenIds ids =
      encode_known(side, side == Side::source ? objective_.with_mask_tokens(text) : text, name);
  check_length(side, objective_.framed(side, ids).size(), name);
  return ids;
}

TokenIds UserTexts::line(Side side, std::string_view line) {
  unknown_ += tokenizer(side).unknown(line);
  return tokenizer(side).encode(line);
}

void UserTexts::warn(const std::string& what) {
  if (!what.empty() && !std::exchange(warned_, true)) log_.warn(what);
}

}  // namespace heed
