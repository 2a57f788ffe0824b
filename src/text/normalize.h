// Unicode normalisation (UAX #15). Pure functions on valid UTF-8 that the caller owns; safe from
// any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/data_config.h"

namespace heed {

// Linear in time: more than 30 combining marks in a row are parted, as in stream-safe text. Error
// (data) on invalid UTF-8. Normalize::none returns the text as is.
std::string normalize(std::string_view text, Normalize form);

// The last position before byte `end` where the text can be cut so that normalising the parts
// separately, in either form, gives the same result as the whole; else 0, or a place 100 KB before
// `end`. Any text may follow text[0, end).
std::size_t last_normalization_boundary(std::string_view text, std::size_t end);

}  // namespace heed
