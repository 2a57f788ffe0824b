// Prompts that are not on the command line.
#pragma once

#include <string>

namespace heed {

// All of a file, a pipe or standard input ("-"), without one final \n or \r\n: a prompt ends where
// its last line does. Error (data) if it cannot be read or has more than 64 MiB.
std::string prompt_from(const std::string& path);

// The same of standard input if something is piped or redirected into it, else "".
std::string piped_prompt();

}  // namespace heed
