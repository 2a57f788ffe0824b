// One-line configs, and the errors in them.
#pragma once

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/error_of.h"
#include "data/run_config.h"

namespace heed {

using Sets = std::vector<std::string>;

inline const char* const kTextConfig = R"({"data": {"train": "a.txt"}})";
inline const char* const kPairsConfig =
    R"({"data": {"pairs": "a.tsv"}, "objective": {"type": "seq2seq"}})";

inline RunConfig with_sets(const char* text, const Sets& sets) {
  return parse_config(text, "a.json", read_sets(sets));
}
inline RunConfig config(const Sets& sets, const char* base = kTextConfig) {
  return with_sets(base, sets);
}

// Those of a line.
inline std::vector<std::string> words(const char* line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

// Reading is refused with these facts.
inline void expect_config_error(const std::string& text, const Sets& sets, const Facts& facts) {
  SCOPED_TRACE(text + " " + testing::PrintToString(sets));
  expect_error([&] { parse_config(text, "a.json", read_sets(sets)); }, Exit::usage, facts);
}

}  // namespace heed
