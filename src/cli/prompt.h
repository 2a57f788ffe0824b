// Texts that commands are given to read from standard input.
#pragma once

#include <string>

namespace heed {

std::string all_of_input();

// All of a file or a pipe. Error (data) if it cannot be read or has more than 64 MiB.
std::string all_of_file(const std::string& path);

// The same if something is piped or redirected into it, else "".
std::string piped_input();

// A prompt from a file or a pipe ends where its last line does: one final \n or \r\n is dropped.
std::string without_final_newline(std::string text);

}  // namespace heed
