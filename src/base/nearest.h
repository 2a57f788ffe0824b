// "Did you mean": the known name nearest to a mistyped one, or heed's for another program's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

std::string lower_case(std::string_view text);  // of ASCII letters

// The nearest name if at most a third of its letters differ (ignoring case), else "".
std::string nearest(std::string_view name, const std::vector<std::string>& names);

// The end of a message: "; did you mean \"near\"?", or a full stop if nothing is near.
std::string did_you_mean(const std::string& near);

// What other programs call a key, a command or an option, and its name in heed. For the message
// about an unknown one. The table is trade_words.tsv.
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
