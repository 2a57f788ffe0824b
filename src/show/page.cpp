#include "show/page.h"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <vector>

#include "base/format.h"
#include "base/json.h"

namespace heed {
Json with_short_numbers(Json json) {
  if (json.is_number_float()) json = std::stod(fmt::format("{}", json.get<float>()));
  if (json.is_structured())
    for (Json& item : json) item = with_short_numbers(std::move(item));
  return json;
}

std::string base64(const std::vector<unsigned char>& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // libcrypto adds a zero at the end
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                  static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

std::string page_with(std::string_view page, const Json& data) {
  constexpr std::string_view kPlace = "{{data}}";
  const std::size_t at = page.find(kPlace);
  return std::string(page.substr(0, at)) +
         replace_all(text_of(with_short_numbers(data)), "<", "\\u003c") +
         std::string(page.substr(at + kPlace.size()));
}

}  // namespace heed
