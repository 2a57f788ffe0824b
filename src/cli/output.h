// Standard output: data, help, tables and --json, nothing else. Messages about a run go to the Log.
// Buffered; for one thread.
#pragma once

#include <fmt/core.h>

#include <span>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "base/std_names.h"
#include "decode/next_token.h"
#include "text/tokenizer.h"

namespace heed {

// The reader closed our output. Not an error: run_heed() ends by SIGPIPE, as filters do.
struct OutputClosed {};

// OutputClosed on a closed pipe; Error (Exit::store) on a full disk. Control characters in the text
// are shown as codes (base/utf8.h), of data on a terminal only.
void print(string_view text);
void print_data(string_view text);   // for other programs: what a model writes, JSON, pages
bool on_terminal();                  // standard output is one
int output_columns();                // of the terminal that standard output is; else very many
void print_prose(string_view text);  // on a terminal broken at spaces
void print_coloured(string_view drawing);  // unchanged: its escapes are heed's own
// JSON on a line; bytes that are not UTF-8 become U+FFFD.
void print_line(const Json& json);
void print_error(string_view what);  // "heed: error: ..." on standard error
void flush_output();                 // makes the output visible now; main() does it at the end

// A page or a table for the user; "-" is standard output. A file is replaced whole or not at all,
// also through a link; a pipe or a device gets the bytes. Error (Exit::usage) if the path belongs
// to a run or a checkpoint; Error (Exit::store) if it cannot be written.
void write_output(const string& path, string_view text);
// The same, and the log says where a page is.
void write_page(const string& path, string_view page, Log& log);

// {"token_logprobs", "ranks", "entropies", "alternatives": for each token [{"id", "token",
// "logprob"}]}
Json odds_json(span<const TokenOdds> tokens, const Tokenizer& tokenizer);

// Texts of values: a text as it is, all else as JSON; tokens with visible spaces, one, and a list
// of {"token", "logprob"} with their shares; ", 3 different", if fewer are than `of` says.
string plain(const Json& value);
string token_text(const Json& token);
string alternatives_text(const Json& alternatives);
string different_in_words(const Json& result, const char* of);
string percent(const Json& share);  // "99.8 %"
// A part of a model: "decoder, layer 1, head 0", "decoder, layer 1, feed forward", "embedding".
string part_text(const Json& part);
template <int digits>
string fixed(const Json& value) {
  return format_fixed(value.get<double>(), digits);
}

// How a table writes a value that is known: as a function does, or a number in a format of fmt.
class CellText {
 public:
  CellText(string (*function)(const Json&)) : function_(function) {}
  CellText(const char* format) : format_(format) {}
  string operator()(const Json& value) const {
    return function_ ? function_(value) : fmt::format(fmt::runtime(format_), value.get<double>());
  }

 private:
  string (*function_)(const Json&) = nullptr;
  const char* format_ = "";
};

struct Column {
  string heading;
  string key;  // of a row; "": the row itself is the value
  CellText text = plain;
  int leaves = 0;  // 1, 2, ...: left out in this order, where there is no room; 0: never
  // Of the last column: what has no room beside the others is broken at spaces, and goes below
  // them where there is hardly any; or it is left out, and others leave before it has hardly any.
  enum Long { none, broken, cut } is_long = none;
};

// A table for people, made from the JSON that a command has built and fitted to the terminal; in a
// pipe it is as wide as it needs. `rows`: an array of objects. Columns of numbers end at the right;
// "-" is what is null, NaN, empty or not there; a column of nothing else is left out. Without any
// heading there is no line of them. Each line starts with `begin`.
void print_table(const Json& rows, const vector<Column>& columns, const string& begin = "");
// The `most` rows with the largest numbers under `key`, above or below 0.
vector<Json> largest(vector<Json> rows, const char* key, size_t most);
// {name: text}: a line each, the texts below one another.
void print_fields(const Json& fields);
// For other programs: the cells separated by tabs, empty where nothing is known; without the
// headings if lines have a `begin`.
void print_tabs(const Json& rows, const vector<Column>& columns, const string& begin = "");

}  // namespace heed
