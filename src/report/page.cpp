#include "report/page.h"

namespace heed {

std::string page_with(std::string_view page, const ShortJson& data) {
  constexpr std::string_view kPlace = "{{data}}";
  const std::size_t at = page.find(kPlace);
  std::string out(page.substr(0, at));
  for (const char c : data.dump(-1, ' ', false, ShortJson::error_handler_t::replace))
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out.append(page.substr(at + kPlace.size()));
}

}  // namespace heed
