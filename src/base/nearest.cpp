#include "base/nearest.h"
#include "base/format.h"
#include "base/std_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace heed {

extern const char* const trade_words_tsv;

namespace {

constexpr size_t kLongest = 64;  // a longer word is not a typing mistake

}  // namespace

string lower_case(string_view s) {
  string out(s);
  for (char& ch : out) ch = std::tolower(uint8_t(ch));
  return out;
}

string nearest(string_view name, const vector<string>& names) {
  if (name.empty() || name.size() > kLongest) return "";
  const string wanted = lower_case(name);
  int64_t best = max<int>(wanted.size() > 3 ? 2 : 1, int(wanted.size()) / 3) + 1;
  string found;
  for (const string& candidate : names) {
    const int64_t distance = edit_distance(wanted, lower_case(candidate));
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

string did_you_mean(const string& near) {
  return near.empty() ? "." : "; did you mean \"" + near + "\"?";
}

vector<TradeWord> trade_words() {
  vector<TradeWord> rows;
  for (const string_view line : split(trade_words_tsv, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    vector<string_view> columns = split(line, '\t');
    columns.resize(4);
    rows.push_back({columns[0], columns[1], columns[2], columns[3]});
  }
  return rows;
}

optional<TradeWord> find_trade_word(string_view kind, string_view word,
                                    const function<bool(const string&)>& has) {
  string wanted = lower_case(word);
  ranges::replace(wanted, '-', '_');
  for (TradeWord row : trade_words()) {
    if (row.kind != kind || wanted.empty() || ranges::count(split(row.words, ' '), wanted) == 0)
      continue;
    if (row.heed.empty()) return row;
    for (const string_view name : split(row.heed, ' '))
      if (row.heed = name; has(string(name))) return row;
  }
  return nullopt;
}

string heed_calls_it(const TradeWord& row) {
  if (row.heed.empty()) return fmt::format("; {}.", row.note);
  return fmt::format("; heed calls it {}{}.", row.heed,
                     row.note.empty() ? "" : fmt::format(" ({})", row.note));
}

}  // namespace heed
