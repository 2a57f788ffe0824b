// What other programs call a key, a command or an option, and its name in heed. For the message
// about an unknown one. The table is trade_words.tsv.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct TradeWord {
  std::string_view kind;   // "key", "command" or "option"
  std::string_view words;  // separated by spaces; lower case, with underscores
  std::string_view heed;   // heed's name, or "" if it has no such thing; several for options
  std::string_view note;   // how it differs
};

std::vector<TradeWord> trade_words();

// The first row that lists the word and has a name that passes `has`, with that name only, or that
// has no name at all. Case is ignored; a dash is an underscore.
std::optional<TradeWord> find_trade_word(
    std::string_view kind, std::string_view word,
    const std::function<bool(const std::string&)>& has = [](const std::string&) { return true; });

// The end of a message: "; heed calls it model.d_model.", "; heed calls it X (NOTE)." or "; NOTE."
std::string heed_calls_it(const TradeWord& row);

}  // namespace heed
