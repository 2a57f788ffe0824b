#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "store/run_folder.h"
#include "text/piece_model.h"

namespace heed {
namespace {

[[noreturn]] void failed(int error) {
  if (error == EPIPE) throw OutputClosed();
  throw store_error("cannot write to standard output: {}.", string(std::strerror(error)));
}

constexpr int kGap = 2;         // between columns
constexpr int kLeastText = 24;  // columns for a text beside the others

// Null: it is not known.
Json value_of(const Json& row, const Column& column) {
  const Json value = column.key.empty() ? row : row.value(column.key, Json());
  const bool nan = value.is_number_float() && isnan(value.get<double>());
  return nan || value.empty() ? Json() : value;
}

string cell_of(const Json& row, const Column& column, const char* unknown) {
  const Json value = value_of(row, column);
  return value.is_null() ? unknown : printable(column.text(value));
}

struct FilledColumn {
  const Column* column;
  vector<string> cells;  // the heading first
  int width = 0;
  bool right = true;

  string aligned(size_t row) const {
    const string pad(width - columns_of(cells[row]), ' ');
    return right ? pad + cells[row] : cells[row] + pad;
  }
};

FilledColumn filled(const Json& rows, const Column& column) {
  FilledColumn out{&column, {column.heading}};
  for (const Json& row : rows) {
    out.cells.push_back(cell_of(row, column, "-"));
    const Json value = value_of(row, column);
    out.right &= value.is_number() || value.is_null();
  }
  for (const string& cell : out.cells) out.width = max(out.width, columns_of(cell));
  return out;
}

void leave_out(vector<FilledColumn>& columns, int room) {
  int width = -kGap;
  for (const FilledColumn& c : columns) width += c.width + kGap;
  while (width > room) {
    const auto rank = [](const FilledColumn& c) {
      return c.column->leaves > 0 ? c.column->leaves : 100;
    };
    const auto least = ranges::min_element(columns, {}, rank);
    if (least->column->leaves == 0) return;
    width -= least->width + kGap;
    columns.erase(least);
  }
}

string trimmed(string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

// A line of cells and a text beside it, or below; the texts have at most `widest` columns.
string with_text(const string& line, const string& text, int widest, int room,
                 Column::Long is_long) {
  const int used = columns_of(line);
  const bool below = is_long == Column::broken && room - used - kGap < min(widest, kLeastText);
  const string hang(below ? 4 : used + kGap, ' ');
  const string broken = is_long == Column::cut ? shortened(hang + text, max(room, used + 1))
                                               : wrapped(hang + text, room, hang);
  if (!below) return trimmed(line + broken.substr(used));
  return trimmed(line) + (text.empty() ? "" : "\n" + broken);
}

}  // namespace

bool on_terminal() {
  static const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  return terminal;
}

void print(string_view text) {
  print_coloured(printable(text, true));
}

void print_data(string_view text) {
  on_terminal() ? print(text) : print_coloured(text);
}

int output_columns() {
  return on_terminal() ? terminal_width(STDOUT_FILENO) : numeric_limits<int>::max();
}

void print_prose(string_view text) {
  print(wrapped(text, output_columns(), "  "));
}

void print_coloured(string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) failed(errno);
}

void write_output(const string& path, string_view text) {
  if (path == "-") return print_data(text);
  if (is_run(folder_of(path))) refuse_link_or_pipe(path);  // it may be a stranger's
  error_code none;
  const fs::file_status old = fs::status(path, none);
  if (fs::is_other(old)) {
    std::ofstream stream(path, std::ios::binary);
    if (!(stream << text).flush()) throw_file_error("write", path, errno);
    return;
  }
  if (none == std::errc::too_many_symbolic_link_levels)
    throw_file_error("write", path, none.value());
  fs::path place = path;  // where links lead, if only to a name
  while (fs::is_symlink(fs::symlink_status(place, none)))
    place = place.parent_path() / fs::read_symlink(place, none);
  if (is_part_of_run(place))
    throw usage_error("cannot write {}: it is part of a run and would damage it.",
                      quoted_path(path))
        .hint("another name");
  // A private page stays private from its first byte.
  const auto mode = static_cast<mode_t>(fs::exists(old) ? old.permissions() : fs::perms{0666});
  replace_file(place, text, mode & 0777);
  if (fs::exists(old)) fs::permissions(place, old.permissions(), none);
}

void write_page(const string& path, string_view page, Log& log) {
  write_output(path, page);
  if (path != "-") log.info(fmt::format("wrote {}; open it in a browser", path));
}

void print_error(string_view what) {
  string text = "heed: error: " + printable(what, true);
  if (::isatty(STDERR_FILENO)) text = wrapped(text, terminal_width(STDERR_FILENO), "  ");
  std::fprintf(stderr, "%s\n", text.c_str());
}

void flush_output() {
  if (std::fflush(stdout) != 0) failed(errno);
}

Json odds_json(span<const TokenOdds> tokens, const Tokenizer& tokenizer) {
  Json json;
  for (const char* key : {"token_logprobs", "ranks", "entropies", "alternatives"})
    json[key] = Json::array();
  for (const TokenOdds& token : tokens) {
    json["token_logprobs"].push_back(token.log_probability);
    json["ranks"].push_back(token.rank);
    json["entropies"].push_back(token.entropy);
    Json& best = json["alternatives"].emplace_back(Json::array());
    for (const ScoredToken& b : token.best)
      best.push_back(
          {{"id", b.id}, {"token", tokenizer.piece(b.id)}, {"logprob", b.log_probability}});
  }
  return json;
}

void print_line(const Json& json) {
  print_data(text_of(json) + "\n");
}

string percent(const Json& share) {
  return fmt::format("{:.1f} %", 100 * share.get<double>());
}

string part_text(const Json& part) {
  const string name = part.value("head", Json()).is_null()
                          ? replace_all(plain(part["part"]), "_", " ")
                          : "head " + plain(part["head"]);
  if (part.value("kind", Json()).is_null()) return name;
  return fmt::format("{}, layer {}, {}", plain(part["kind"]), plain(part["layer"]), name);
}

string different_in_words(const Json& result, const char* of) {
  if (result["different"] == result[of]) return "";
  return fmt::format(", {} different", format_count(result["different"]));
}

string plain(const Json& value) {
  return value.is_string() ? value.get<string>() : value.dump();
}

string token_text(const Json& token) {
  return with_space_marks(plain(token));
}

// "the 62%  a 7%"; no line is broken between a token and its share.
string alternatives_text(const Json& alternatives) {
  vector<string> texts;
  for (const Json& a : alternatives)
    texts.push_back(fmt::format("{}{}{:.0f}%", token_text(a["token"]),
                                on_terminal() ? "\u00a0" : " ",
                                100 * exp(a["logprob"].get<double>())));
  return joined(texts, "  ");
}

void print_table(const Json& rows, const vector<Column>& columns, const string& begin) {
  const int room = output_columns() - columns_of(begin);
  vector<FilledColumn> table;
  for (const Column& column : columns) {
    const auto known = [&](const Json& row) { return !value_of(row, column).is_null(); };
    if (rows.empty() || ranges::any_of(rows, known)) table.push_back(filled(rows, column));
  }
  const FilledColumn texts = table.back();
  const Column::Long is_long = texts.column->is_long;
  if (is_long != Column::none) table.pop_back();
  const int kept = is_long == Column::cut ? min(texts.width, kLeastText) + kGap : 0;
  leave_out(table, room - kept);
  const bool headed = ranges::any_of(columns, [](const Column& c) { return c.heading != ""; });
  for (size_t row = headed ? 0 : 1; row <= rows.size(); ++row) {
    const auto cell = [&](const FilledColumn& c) { return c.aligned(row); };
    string line = joined(mapped(table, cell), string(kGap, ' '));
    line = is_long == Column::none ? trimmed(line)
                                   : with_text(line, texts.cells[row], texts.width, room, is_long);
    print(begin + replace_all(line, "\n", "\n" + begin) + "\n");
  }
}

vector<Json> largest(vector<Json> rows, const char* key, size_t most) {
  ranges::stable_sort(rows, greater(),
                      [&](const Json& row) { return abs(row[key].get<double>()); });
  rows.resize(min(rows.size(), most));
  return rows;
}

void print_fields(const Json& fields) {
  Json rows = Json::array();
  for (const auto& [name, text] : fields.items()) rows.push_back({{"name", name}, {"text", text}});
  print_table(rows, {{"", "name"}, {"", "text", plain, 0, Column::broken}});
}

void print_tabs(const Json& rows, const vector<Column>& columns, const string& begin) {
  if (begin.empty()) print(joined(mapped(columns, &Column::heading), "\t") + "\n");
  for (const Json& row : rows) {
    const auto cell = [&](const Column& c) { return cell_of(row, c, ""); };
    print(begin + joined(mapped(columns, cell), "\t") + "\n");
  }
}

}  // namespace heed
