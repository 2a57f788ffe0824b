// The names of the standard library that stand in almost every line, without std::.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

namespace fs = std::filesystem;

using std::array, std::function, std::optional, std::pair, std::span, std::unique_ptr, std::vector;
using std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t;
using std::make_unique, std::max, std::min, std::nullopt, std::to_string;
using std::string, std::string_view, std::size_t;

}  // namespace heed
