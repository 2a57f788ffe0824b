// Tables for people, made from the JSON that a command has built and fitted to the terminal.
//
// Where the terminal is too narrow, columns are left out in the order that they name, and the last
// column is broken at spaces. In a pipe, tables are as wide as they need. Control characters are
// shown as codes everywhere.
#pragma once

#include <span>
#include <string>

#include "base/format.h"
#include "base/json.h"

namespace heed {

// How a value that is known is written.
using CellText = std::string (*)(const Json& value);

std::string shortened(std::string text, int most);  // to so many columns, with … at its end
// ", 3 different", if fewer are than `of` says.
std::string different_in_words(const Json& result, const char* of);
std::string plain(const Json& value);  // a text as it is, all else as JSON
template <int digits>
std::string fixed(const Json& value) {
  return format_fixed(value.get<double>(), digits);
}

// Tokens with visible spaces: of one, and of a list of {"token", "logprob"}, with their shares.
std::string token_text(const Json& token);
std::string alternatives_text(const Json& alternatives);

struct Column {
  std::string heading;
  std::string key;  // of a row; "": the row itself is the value
  CellText text = plain;
  int leaves = 0;  // 1, 2, ...: left out in this order, where there is no room; 0: never
  // Of the last column: what has no room beside the others is broken at spaces, and goes below
  // them where there is hardly any; or it is left out, and others leave before it has hardly any.
  enum Long { none, broken, cut } is_long = none;
};

// `rows`: an array of objects. Columns of numbers end at the right; "-" is what is null, NaN or not
// there. Without any heading there is no line of them. Each line starts with `begin`.
void print_table(const Json& rows, std::span<const Column> columns, const std::string& begin = "");
// {name: text}: a line each, the texts below one another.
void print_fields(const Json& fields);
// For other programs: the cells separated by tabs, without the headings if lines have a `begin`.
void print_tabs(const Json& rows, std::span<const Column> columns, const std::string& begin = "");

}  // namespace heed
