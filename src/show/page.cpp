#include "show/page.h"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"

namespace heed {

Json with_short_numbers(Json json) {
  if (json.is_number_float()) json = std::stod(fmt::format("{}", json.get<float>()));
  if (json.is_structured())
    for (Json& item : json) item = with_short_numbers(std::move(item));
  return json;
}

string base64(const vector<unsigned char>& bytes) {
  string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // libcrypto adds a zero at the end
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(), int(bytes.size()));
  text.pop_back();
  return text;
}

string page_with(string_view page, const Json& data) {
  constexpr string_view kPlace = "{{data}}";
  const size_t at = page.find(kPlace);
  return string(page.substr(0, at)) +
         replace_all(text_of(with_short_numbers(data)), "<", "\\u003c") +
         string(page.substr(at + kPlace.size()));
}

}  // namespace heed
