// Standard output: data, help and --json, nothing else. Messages about a run go to the Log.
// Buffered; for one thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/log.h"
#include "decode/next_token.h"
#include "text/tokenizer.h"

namespace heed {

// The reader closed our output. Not an error: run_heed() ends by SIGPIPE, as filters do.
struct OutputClosed {};

// OutputClosed on a closed pipe; Error (Exit::store) on a full disk. Control characters in the text
// are shown as codes (base/utf8.h), of data on a terminal only.
void print(std::string_view text);
void print_data(std::string_view text);   // for other programs: what a model writes, JSON, pages
bool on_terminal();                       // standard output is one
int output_columns();                     // of the terminal that standard output is; else very many
void print_prose(std::string_view text);  // on a terminal broken at spaces
void print_coloured(std::string_view drawing);  // unchanged: its escapes are heed's own
// JSON on a line; bytes that are not UTF-8 become U+FFFD.
void print_line(const Json& json);
// {"token_logprobs", "ranks", "entropies", "alternatives": for each token [{"id", "token",
// "logprob"}]}
Json odds_json(std::span<const TokenOdds> tokens, const Tokenizer& tokenizer);
// A page or a table for the user; "-" is standard output. A file is replaced whole or not at all,
// also through a link; a pipe or a device gets the bytes. Error (Exit::usage) if the path belongs
// to a run or a checkpoint; Error (Exit::store) if it cannot be written.
void write_output(const std::string& path, std::string_view text);
// The same, and the log says where a page is.
void write_page(const std::string& path, std::string_view page, Log& log);
void print_error(const char* what);  // "heed: error: ..." on standard error
void flush_output();                 // makes the output visible now; main() does it at the end

}  // namespace heed
