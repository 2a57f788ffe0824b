// One-line configs, and the errors in them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "data/run_config.h"

namespace heed {

using Sets = std::vector<std::string>;

inline const char* const kTextConfig = R"({"data": {"train": "a.txt"}})";
inline const char* const kPairsConfig =
    R"({"data": {"pairs": "a.tsv"}, "objective": {"type": "seq2seq"}})";

inline RunConfig config(const Sets& sets, const char* base = kTextConfig) {
  return parse_config(base, "a.json", read_sets(sets));
}

// The error message that reading gives, or "".
inline std::string config_error(const std::string& text, const Sets& sets = {}) {
  try {
    parse_config(text, "a.json", read_sets(sets));
  } catch (const Error& e) {
    EXPECT_EQ(e.exit(), Exit::usage);
    return e.what();
  }
  return "";
}

}  // namespace heed
