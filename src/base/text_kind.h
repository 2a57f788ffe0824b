// What is not a text in UTF-8 although a user may name it: UTF-16, PDFs, pictures, archives, binary
// data. One rule for every text, list of lines and config that names them.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// What a file is, by its first bytes; "" for text. A part of a text: has it a byte of value 0?
std::string other_kind(std::string_view first);

// The marks that a text begins with: "HTML", "JSON" and the like; "" if there are none.
std::string markup_of(std::string_view first);

// Error (data): `name`, a file or another place ("line 3"), is of that kind.
[[noreturn]] void throw_no_text(const std::string& name, const std::string& kind,
                                bool is_file = true);

extern const char* const kEmptyKind;  // other_kind("")

}  // namespace heed
