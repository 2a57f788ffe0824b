// All that main() needs of heed, in a header that costs nothing.
#pragma once

#include <string>
#include <vector>

namespace heed {

// Runs the command that `args` (without the program's name) begin with, on all ranks that a
// launcher started. Says what went wrong on standard error. The exit code; but if the reader closed
// our output, the process ends by SIGPIPE, as filters do.
int run_heed(const std::vector<std::string>& args);

}  // namespace heed
