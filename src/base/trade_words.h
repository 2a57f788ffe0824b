// Words of the trade: how other programs (nanoGPT, Hugging Face, JoeyNMT, Marian, fairseq) name a
// key, a value, a command or an option, and what it is in heed. For the message about an unknown
// one.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace heed {

struct TradeWord {
  std::string_view words;  // separated by spaces; lower case, with underscores
  std::string_view heed;   // what heed calls it, or "" if it has no such thing; of options: names
                           // in the order in which they are tried, RUN for the argument
  std::string_view note = "";  // how it differs
};

enum class Trade { key, value, command, option };
std::span<const TradeWord> trade_words(Trade kind);

// The first row with the word that `fits`, or null. Case does not matter, a dash is an underscore.
const TradeWord* find_trade_word(
    Trade kind, std::string_view word,
    const std::function<bool(const TradeWord&)>& fits = [](const TradeWord&) { return true; });

// The end of a message: "; heed calls it model.d_model.", "; heed calls it X (NOTE)." or "; NOTE."
std::string heed_calls_it(const TradeWord& row);

}  // namespace heed
