// Words of the trade: how other programs name a key, a command or an option, and what it is in
// heed. For the message about an unknown one. The table is trade_words.tsv.
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
  std::string_view heed;   // what heed calls it, or "" if it has no such thing; of options several
  std::string_view note;   // how it differs
};

std::vector<TradeWord> trade_words();

// The first row with the word, of whose names heed has one, with this name alone; or a row without
// a name. Case does not matter, a dash is an underscore.
std::optional<TradeWord> find_trade_word(
    std::string_view kind, std::string_view word,
    const std::function<bool(const std::string&)>& has = [](const std::string&) { return true; });

// The end of a message: "; heed calls it model.d_model.", "; heed calls it X (NOTE)." or "; NOTE."
std::string heed_calls_it(const TradeWord& row);

}  // namespace heed
