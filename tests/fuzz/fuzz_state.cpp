// state.json: the input as it is, and with a checksum that fits, so that the parser behind it is
// reached. What is accepted is written and read back the same.
#include "base/sha256.h"
#include "fuzz.h"
#include "store/state.h"

using namespace heed;

namespace {

void check(std::string_view bytes) {
  try {
    const std::string text = format_state(parse_state(bytes, "state.json"));
    expect(format_state(parse_state(text, "state.json")) == text);
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(view(data, size));
  const std::string head = std::string(view(data, size)) + ",\n  \"checksum\": \"";
  const std::string tail = "\"\n}\n";
  check(head + sha256(head + tail) + tail);
  return 0;
}
