// The names of the standard library that stand in almost every line, without std::.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

using std::function, std::optional, std::span, std::unique_ptr, std::vector;
using std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t;
using std::string, std::string_view, std::size_t;

}  // namespace heed
