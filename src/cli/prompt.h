// Prompts from a file or from standard input.
#pragma once

#include <string>

namespace heed {

// A whole file, pipe or standard input ("-"), without its final \n or \r\n. Error (data) if it
// cannot be read or is larger than 64 MiB.
std::string prompt_from(const std::string& path);

// Standard input in the same way if it is a pipe or a file, else "".
std::string piped_prompt();

}  // namespace heed
