// The names of the standard library that stand in many lines, without std::. What is rarer keeps
// it. (size_t, int64_t and the like have none in C's headers.) And two functions that it lacks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>

#include <new>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace heed {

namespace fs = std::filesystem;
namespace chrono = std::chrono;
namespace ranges = std::ranges;

using std::abs, std::accumulate, std::clamp, std::erase, std::erase_if, std::exchange, std::exp,
    std::getline, std::isfinite, std::isnan, std::llround, std::max, std::memcpy, std::min,
    std::pow, std::sqrt, std::ssize, std::to_string;
using std::array, std::atomic, std::function, std::greater, std::ifstream, std::map, std::optional,
    std::pair, std::set, std::span, std::unique_ptr, std::unordered_map, std::unordered_set,
    std::vector;
using std::bad_alloc, std::error_code, std::integral, std::is_same_v, std::make_unique,
    std::nullopt, std::numeric_limits, std::type_identity_t;
using std::string, std::string_view, std::u32string_view;

// f(x) of each x, in order.
auto mapped(auto&& range, auto f) {
  vector<std::decay_t<decltype(std::invoke(f, *std::begin(range)))>> results;
  for (auto&& x : range) results.push_back(std::invoke(f, x));
  return results;
}
// `items`, and `more` behind them.
template <class T>
vector<T> appended(vector<T> items, const auto& more) {
  items.insert(items.end(), more.begin(), more.end());
  return items;
}

}  // namespace heed
