#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/utf8.h"
#include "store/result_file.h"

namespace heed {
namespace {

[[noreturn]] void failed(int error) {
  if (error == EPIPE) throw OutputClosed();
  throw Error(Exit::store,
              "cannot write to standard output: " + std::string(std::strerror(error)) + ".");
}

}  // namespace

void print(std::string_view text) {
  static const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  print_coloured(terminal ? printable_lines(text) : text);
}

void print_coloured(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) failed(errno);
}

void write_output(const std::string& path, std::string_view text) {
  path == "-" ? print(text) : write_result(path, text);
}

void print_error(const char* what) {
  std::fprintf(stderr, "heed: error: %s\n", printable_lines(what).c_str());
}

void flush_output() {
  if (std::fflush(stdout) != 0) failed(errno);
}

void print_line(const nlohmann::ordered_json& json) {
  print(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace heed
