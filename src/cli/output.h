// Standard output: data, help and --json, nothing else. Everything for people about the run goes to
// the Log. Buffered; run by one thread.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// Nobody reads our output any more. Not an error: main() ends quietly, by SIGPIPE as is customary.
struct OutputClosed {};

// OutputClosed on a closed pipe; Error (Exit::store) on a full disk. On a terminal, which would
// obey them, control characters of the text are shown as codes (base/utf8.h).
void print(std::string_view text);
void print_coloured(std::string_view drawing);  // as it is: its escapes are heed's own
// Writes a file as write_result() does; "-" is standard output.
void write_output(const std::string& path, std::string_view text);
void flush_output();  // makes what was printed visible (streaming); main() does it in the end

}  // namespace heed
