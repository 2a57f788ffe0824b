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

// The fewest insertions, deletions, replacements and swaps of neighbours between the two:
// d[i][j] is the distance of the first i and j letters: Levenshtein's recurrence, with swaps
// (Damerau 1964).
int edit_distance(string_view a, string_view b) {
  const size_t n = a.size(), m = b.size();
  vector<vector<int>> d(n + 1, vector<int>(m + 1));
  for (size_t i = 0; i <= n; ++i) d[i][0] = i;
  for (size_t j = 0; j <= m; ++j) d[0][j] = j;
  for (size_t i = 1; i <= n; ++i) {
    for (size_t j = 1; j <= m; ++j) {
      const int replaced = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      d[i][j] = min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[n][m];
}

}  // namespace

string lower_case(string_view s) {
  string out(s);
  for (char& ch : out) ch = std::tolower(uint8_t(ch));
  return out;
}

string nearest(string_view name, const vector<string>& names) {
  if (name.empty() || names.empty() || name.size() > kLongest) return "";
  const auto distance = [&](auto& n) { return edit_distance(lower_case(name), lower_case(n)); };
  const string& best = *ranges::min_element(names, {}, distance);
  return distance(best) <= max<int>(1, name.size() / 3) ? best : "";
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
