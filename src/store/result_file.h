// Pages and tables that a command writes for the user: the new file is in place whole or not at
// all.
#pragma once

#include <filesystem>
#include <string_view>

namespace heed {

// A link is followed, to what it leads to; a pipe or a device gets the bytes. Error (Exit::usage)
// if the path is a file of a run or in a checkpoint, which would be damaged; Error (Exit::store) if
// it cannot be written.
void write_result(const std::filesystem::path& path, std::string_view bytes);

}  // namespace heed
