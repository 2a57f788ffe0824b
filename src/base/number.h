// Numbers as people write them: after an option or --set, and in the environment.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/std_names.h"

namespace heed {

// A decimal number that T holds: "10", "010", "+1", ".001", "5.", and "1e3" for a whole one, too.
// Nothing for any other text: "", " 1", "0x10", "1_000", "nan", "1e999".
template <class T>
optional<T> read_number(string_view text) {
  if (text.starts_with('+') && text.find_first_of("+-", 1) != 1) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value - value == 0) return value;
  if constexpr (integral<T>)
    if (const auto x = read_number<double>(text);
        x && *x == std::floor(*x) && std::fabs(*x) < 9e15 && std::in_range<T>(int64_t(*x)))
      return T(*x);
  return nullopt;
}

}  // namespace heed
