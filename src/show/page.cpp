#include "show/page.h"

#include "base/format.h"

namespace heed {

std::string page_with(std::string_view page, const ShortJson& data) {
  constexpr std::string_view kPlace = "{{data}}";
  const std::size_t at = page.find(kPlace);
  std::string out(page.substr(0, at));
  out += replace_all(text_of(data), "<", "\\u003c");
  return out.append(page.substr(at + kPlace.size()));
}

}  // namespace heed
