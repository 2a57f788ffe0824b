// "Did you mean": the known name nearest to a mistyped one, or heed's for another program's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/std_names.h"

namespace heed {

string lower_case(string_view text);  // of ASCII letters

// The nearest name if at most a third of its letters differ (ignoring case), else "".
string nearest(string_view name, const vector<string>& names);

// The end of a message: "; did you mean \"near\"?", or a full stop if nothing is near.
string did_you_mean(const string& near);

// What other programs call a key, a command or an option, and its name in heed. For the message
// about an unknown one. The table is trade_words.tsv.
struct TradeWord {
  string_view kind;   // "key", "command" or "option"
  string_view words;  // separated by spaces; lower case, with underscores
  string_view heed;   // heed's name, or "" if it has no such thing; several for options
  string_view note;   // how it differs
};

vector<TradeWord> trade_words();

// The first row that lists the word and has a name that passes `has`, with that name only, or that
// has no name at all. Case is ignored; a dash is an underscore.
optional<TradeWord> find_trade_word(
    string_view kind, string_view word,
    const function<bool(const string&)>& has = [](const string&) { return true; });

// The end of a message: "; heed calls it model.d_model.", "; heed calls it X (NOTE)." or "; NOTE."
string heed_calls_it(const TradeWord& row);

}  // namespace heed
