#include "base/trade_words.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/nearest.h"

namespace heed {

extern const char* const trade_words_tsv;

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<TradeWord> trade_words() {
  std::vector<TradeWord> rows;
  for (const std::string_view line : split(trade_words_tsv, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    std::vector<std::string_view> columns = split(line, '\t');
    columns.resize(4);
    rows.push_back({columns[0], columns[1], columns[2], columns[3]});
  }
  return rows;
}

std::optional<TradeWord> find_trade_word(std::string_view kind, std::string_view word,
                                         const std::function<bool(const std::string&)>& has) {
  std::string wanted = lower_case(word);
  std::ranges::replace(wanted, '-', '_');
  for (TradeWord row : trade_words()) {
    if (row.kind != kind || wanted.empty() ||
        std::ranges::count(split(row.words, ' '), wanted) == 0)
      continue;
    if (row.heed.empty()) return row;
    for (const std::string_view name : split(row.heed, ' '))
      if (row.heed = name; has(std::string(name))) return row;
  }
  return std::nullopt;
}

std::string heed_calls_it(const TradeWord& row) {
  if (row.heed.empty()) return fmt::format("; {}.", row.note);
  return fmt::format("; heed calls it {}{}.", row.heed,
                     row.note.empty() ? "" : fmt::format(" ({})", row.note));
}

}  // namespace heed
