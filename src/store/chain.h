// chain.jsonl of a run: a line for every save, with the SHA-256 of every file of the checkpoint, of
// the data, of the program, and of the line before (docs/formats.md). scripts/audit.py repeats any
// part of the training from it. Nothing in it is secret: only repeating proves.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/std_names.h"

namespace heed {

// The line that says that the checkpoint of this step is there now; "" if the last one says so. The
// first one follows the line with the hash `stem`. Cuts off a torn last line.
string next_chain_line(const fs::path& run, int64_t step, const string& stem);

// The hash that the first line follows, or "".
string stem_hash(const fs::path& run);

// The hash of the last line of this step, or "".
string chain_hash(const fs::path& run, int64_t step);

}  // namespace heed
