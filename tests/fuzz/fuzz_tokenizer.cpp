// A tokenizer file; the first byte says which kind. What is accepted is sound: it encodes and
// decodes any text, and is written and read back the same.
#include <algorithm>

#include "fuzz.h"
#include "text/tokenizer.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view name = data[0] % 2 == 0 ? kTokenizerJson : kTokenizerModel;
  const std::string_view bytes = view(data + 1, size - 1);
  try {
    const auto tokenizer = load_tokenizer(name, bytes, "tokenizer");
    for (int id = 0; id < std::min(tokenizer->size(), 300); ++id) tokenizer->piece(id);
    const std::string text = "A dog  barked.\n\tÜber \xE2\x96\x81[MASK]";
    for (const int id : tokenizer->encode(text)) expect(id >= 0 && id < tokenizer->size());
    tokenizer->decode(tokenizer->encode(text));
    const std::string written = tokenizer->serialize();
    expect(load_tokenizer(name, written, "written")->serialize() == written);
  } catch (const Error&) {
  }
  return 0;
}
