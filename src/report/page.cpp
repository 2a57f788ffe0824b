#include "report/page.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace heed {

extern const char* const page_head_html;
extern const char* const page_style_html;
extern const char* const page_script_html;

std::string filled_page(std::string_view page,
                        const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string out;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t open = std::min(page.find("{{", at), page.size());
    const std::size_t close = page.find("}}", open);
    out += page.substr(at, open - at);
    if (open == page.size() || close == std::string_view::npos) break;
    const std::string_view name = page.substr(open + 2, close - open - 2);
    if (name == "head") out += page_head_html;
    if (name == "style") out += page_style_html;
    if (name == "script") out += page_script_html;
    for (const auto& [part, text] : parts)
      if (part == name) out += text;
    at = close + 2;
  }
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string json_for_script(const nlohmann::json& json) {
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;)
    text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace heed
