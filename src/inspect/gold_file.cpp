#include "inspect/gold_file.h"

#include <fmt/core.h>

#include "text/utf8.h"

namespace heed {

GoldLine::GoldLine(const std::string& file, std::size_t number, const std::string& text)
    : JsonObject(JsonObject::parse(
          text, {.name = file, .exit = Exit::data, .line = static_cast<int>(number)})) {}

std::size_t GoldLine::index(const nlohmann::json& value, std::size_t limit,
                            const char* what) const {
  if (!value.is_number_unsigned() || value.get<std::size_t>() >= limit)
    fail(
        fmt::format("{} must be a whole number below {}; found {}. Does the gold file belong to "
                    "these texts?",
                    what, limit, value.dump()));
  return value.get<std::size_t>();
}

const nlohmann::json& GoldLine::array(const nlohmann::json& value, const char* what) const {
  if (!value.is_array()) fail(fmt::format("{} must be a list.", what));
  return value;
}

Span GoldLine::span(const nlohmann::json& value, std::size_t limit, const char* what) const {
  if (array(value, what).size() < 2) fail(fmt::format("{} must be [begin, end].", what));
  const Span span{index(value[0], limit, what), index(value[1], limit + 1, what)};
  if (span.begin >= span.end) fail(fmt::format("{} must not be empty.", what));
  return span;
}

std::vector<std::size_t> character_begins(std::string_view text) {
  std::vector<std::size_t> begins;
  each_code_point(text, [&](CodePoint, std::size_t at) { begins.push_back(at); });
  begins.push_back(text.size());
  return begins;
}

}  // namespace heed
