// What is not a text in UTF-8 although a user may name it: UTF-16, PDFs, pictures, archives, binary
// data. One rule for every text, list of lines and config that names them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/std_names.h"

namespace heed {

// What a file is, by its first bytes; "" for text, or none. A part of a text: has it a byte of
// value 0?
string other_kind(string_view first);

// Says that a text has the marks of HTML, JSON and the like, and what takes them off; "" if it has
// none.
string markup_in_words(const string& name, string_view first);

// Error (data): `name`, a file or another place ("line 3"), is of that kind.
[[noreturn]] void throw_no_text(const string& name, const string& kind);

// What a model of another program, a file or a folder, is known by: "pytorch_model.bin"; "" if it
// is none.
string other_program(const fs::path& path);
[[noreturn]] void throw_other_program(const fs::path& path, const string& name, Exit exit);

}  // namespace heed
