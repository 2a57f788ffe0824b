#include "cli/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/format.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "text/piece_model.h"

namespace heed {
namespace {

constexpr int kGap = 2;         // between columns
constexpr int kLeastText = 24;  // columns for a text beside the others

bool is_known(const Json& value) {
  return !value.is_null() && !(value.is_number_float() && std::isnan(value.get<double>()));
}

Json value_of(const Json& row, const Column& column) {
  return column.key.empty() ? row : row.value(column.key, Json());
}

std::string cell_of(const Json& row, const Column& column) {
  const Json value = value_of(row, column);
  return is_known(value) ? printable(column.text(value)) : "-";
}

struct FilledColumn {
  std::vector<std::string> cells;  // the heading first
  int width = 0;
  bool right = true;
  int leaves = 0;

  std::string aligned(std::size_t row) const {
    const std::string pad(width - columns_of(cells[row]), ' ');
    return right ? pad + cells[row] : cells[row] + pad;
  }
};

FilledColumn filled(const Json& rows, const Column& column) {
  FilledColumn out{{column.heading}};
  out.leaves = column.leaves;
  for (const Json& row : rows) {
    out.cells.push_back(cell_of(row, column));
    const Json value = value_of(row, column);
    out.right &= value.is_number() || !is_known(value);
  }
  for (const std::string& cell : out.cells) out.width = std::max(out.width, columns_of(cell));
  return out;
}

int total_width(const std::vector<FilledColumn>& columns) {
  int width = -kGap;
  for (const FilledColumn& c : columns) width += c.width + kGap;
  return width;
}

void leave_out(std::vector<FilledColumn>& columns, int room) {
  while (total_width(columns) > room) {
    const auto rank = [](const FilledColumn& c) { return c.leaves > 0 ? c.leaves : 100; };
    const auto least = std::ranges::min_element(columns, {}, rank);
    if (least->leaves == 0) return;
    columns.erase(least);
  }
}

std::string trimmed(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

// A line of cells and a text beside it, or below; the texts have at most `widest` columns.
std::string with_text(const std::string& line, const std::string& text, int widest, int room,
                      Column::Long is_long) {
  const int used = columns_of(line);
  const bool below = is_long == Column::broken && room - used - kGap < std::min(widest, kLeastText);
  const std::string hang(below ? 4 : used + kGap, ' ');
  std::string broken = wrapped(hang + text, room, hang);
  if (is_long == Column::cut)
    broken = shortened(broken.substr(0, broken.find('\n')), std::max(room, used + 1));
  if (!below) return trimmed(line + broken.substr(used));
  return trimmed(line) + (text.empty() ? "" : "\n" + broken);
}

}  // namespace

std::string shortened(std::string text, int most) {
  if (columns_of(text) <= most) return text;
  std::size_t end = 0;
  for (int columns = 0, length = 0;; end += length) {
    length = code_point_at(text, end).length;
    columns += columns_of(std::string_view(text).substr(end, length));
    if (columns >= most) return text.substr(0, end) + "\u2026";
  }
}

std::string different_in_words(const Json& result, const char* of) {
  if (result["different"] == result[of]) return "";
  return fmt::format(", {} different", format_count(result["different"]));
}

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string token_text(const Json& token) {
  return with_space_marks(token.get<std::string>());
}

// "the 62%  a 7%"; no line is broken between a token and its share.
std::string alternatives_text(const Json& alternatives) {
  std::vector<std::string> texts;
  for (const Json& a : alternatives)
    texts.push_back(fmt::format("{}{}{:.0f}%", token_text(a["token"]),
                                on_terminal() ? "\u00a0" : " ",
                                100 * std::exp(a["logprob"].get<double>())));
  return joined(texts, "  ");
}

void print_table(const Json& rows, std::span<const Column> columns, const std::string& begin) {
  const int room = output_columns() - columns_of(begin);
  std::vector<FilledColumn> table;
  for (const Column& column : columns) table.push_back(filled(rows, column));
  const Column::Long is_long = columns.back().is_long;
  const FilledColumn texts = table.back();
  if (is_long != Column::none) table.pop_back();
  const int kept = is_long == Column::cut ? std::min(texts.width, kLeastText) + kGap : 0;
  leave_out(table, room - kept);
  const bool headed = std::ranges::any_of(columns, [](const Column& c) { return c.heading != ""; });
  for (std::size_t row = headed ? 0 : 1; row <= rows.size(); ++row) {
    std::vector<std::string> cells;
    for (const FilledColumn& c : table) cells.push_back(c.aligned(row));
    std::string line = joined(cells, std::string(kGap, ' '));
    line = is_long == Column::none ? trimmed(line)
                                   : with_text(line, texts.cells[row], texts.width, room, is_long);
    print(begin + replace_all(line, "\n", "\n" + begin) + "\n");
  }
}

void print_fields(const Json& fields) {
  Json rows = Json::array();
  for (const auto& [name, text] : fields.items()) rows.push_back({{"name", name}, {"text", text}});
  const Column columns[] = {{"", "name"}, {"", "text", plain, 0, Column::broken}};
  print_table(rows, columns);
}

void print_tabs(const Json& rows, std::span<const Column> columns, const std::string& begin) {
  std::vector<std::string> cells;
  for (const Column& c : columns) cells.push_back(c.heading);
  if (begin.empty()) print(joined(cells, "\t") + "\n");
  for (const Json& row : rows) {
    std::ranges::transform(columns, cells.begin(),
                           [&](const Column& c) { return cell_of(row, c); });
    print(begin + joined(cells, "\t") + "\n");
  }
}

}  // namespace heed
