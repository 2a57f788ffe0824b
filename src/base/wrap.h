// Prose fitted to a terminal: broken at spaces, never inside a word.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// The columns of the terminal `fd` is, or 80.
int terminal_width(int fd);

// Breaks each line of the text that is wider; what follows a break begins with `hang`. A command to
// copy, "  heed ...", stays whole, and so does a word without spaces.
std::string wrapped(std::string_view text, int width, std::string_view hang = "");

}  // namespace heed
