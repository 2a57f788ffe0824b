// Self-contained web pages: a template compiled in (src/inspect/*.html) with its places filled in.
// They load nothing. What all of them share: page_head.html, page_style.html, page_script.html.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

// The template with {{head}}, {{style}}, {{script}} and each {{name}} replaced. What is put in is
// not looked at again, so it may hold braces.
std::string filled_page(std::string_view page,
                        const std::vector<std::pair<std::string, std::string>>& parts);

// Text that may stand in an element or in a quoted attribute.
std::string html_text(std::string_view text);
// JSON that may stand in a <script> element, whatever its strings hold: "<" becomes "\u003c".
std::string json_for_script(const nlohmann::json& json);

}  // namespace heed
