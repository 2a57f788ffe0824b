// Checks of the values of options, which say what is expected.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <concepts>
#include <limits>
#include <string>

namespace heed {

// A number from `low` to `high`, or of at least `low`.
template <class T>
CLI::Validator in_range(T low, T high = std::numeric_limits<T>::max()) {
  const bool open = high == std::numeric_limits<T>::max();
  const std::string expected = fmt::format(
      "expected a {} {}", std::integral<T> ? "whole number" : "number",
      open ? fmt::format("of at least {}", low) : fmt::format("from {} to {}", low, high));
  return {[=](std::string& text) {
            T value{};
            const bool good =
                CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
            return good ? "" : fmt::format("{}; found \"{}\"", expected, text);
          },
          open ? "" : fmt::format("{} to {}", low, high)};
}

}  // namespace heed
