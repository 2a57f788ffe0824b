#include "cli/output.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/utf8.h"
#include "store/layout.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void failed(int error) {
  if (error == EPIPE) throw OutputClosed();
  throw store_error("cannot write to standard output: {}.", std::string(std::strerror(error)));
}

}  // namespace

bool on_terminal() {
  static const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  return terminal;
}

void print(std::string_view text) {
  print_coloured(printable_lines(text));
}

void print_data(std::string_view text) {
  on_terminal() ? print(text) : print_coloured(text);
}

int output_columns() {
  return on_terminal() ? terminal_width(STDOUT_FILENO) : std::numeric_limits<int>::max();
}

void print_prose(std::string_view text) {
  print(wrapped(text, output_columns(), "  "));
}

void print_coloured(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) failed(errno);
}

void write_output(const std::string& path, std::string_view text) {
  if (path == "-") return print_data(text);
  if (is_run(folder_of(path))) refuse_link_or_pipe(path);  // it may be a stranger's
  std::error_code none;
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

void write_page(const std::string& path, std::string_view page, Log& log) {
  write_output(path, page);
  if (path != "-") log.info(fmt::format("wrote {}; open it in a browser", path));
}

void print_error(const char* what) {
  const std::string text = "heed: error: " + printable_lines(what);
  const bool wraps = ::isatty(STDERR_FILENO) == 1;
  std::fprintf(stderr, "%s\n",
               wraps ? wrapped(text, terminal_width(STDERR_FILENO), "  ").c_str() : text.c_str());
}

void flush_output() {
  if (std::fflush(stdout) != 0) failed(errno);
}

Json odds_json(std::span<const TokenOdds> tokens, const Tokenizer& tokenizer) {
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

}  // namespace heed
