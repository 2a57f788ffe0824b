// Unicode normalisation (UAX #15). Pure functions on valid UTF-8 that the caller owns; safe from
// any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/data_config.h"

namespace heed {

// Error (data) on invalid UTF-8. Normalize::none gives the text itself.
std::string normalize(std::string_view text, Normalize form);

// The last place before byte `end` where the text can be cut so that its parts, normalised one by
// one in either form, give what the whole gives; 0 if there is none. What follows text[0, end) may
// be anything.
std::size_t last_normalization_boundary(std::string_view text, std::size_t end);

}  // namespace heed
