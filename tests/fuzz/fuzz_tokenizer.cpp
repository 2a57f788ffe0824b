// A tokenizer file of heed's, or a foreign SentencePiece model; the first byte says which. What is
// accepted is sound: it encodes and decodes any text, and is written and read back the same.
#include <algorithm>

#include "fuzz.h"
#include "text/piece_model.h"

using namespace heed;

namespace {

std::unique_ptr<Tokenizer> read(int kind, std::string_view bytes) {
  if (kind == 0) return load_tokenizer(kTokenizerJson, bytes, "tokenizer");
  if (kind == 1) return load_tokenizer(kTokenizerModel, bytes, "tokenizer");
  return tokenizer_of(adopt_pieces(bytes, "model", {"[MASK]"}), "model");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    const auto tokenizer = read(data[0] % 3, view(data + 1, size - 1));
    for (int id = 0; id < std::min(tokenizer->size(), 300); ++id) tokenizer->piece(id);
    const std::string text = "A dog  barked.\n\tÜber \xE2\x96\x81[MASK]";
    for (const int id : tokenizer->encode(text)) expect(id >= 0 && id < tokenizer->size());
    tokenizer->decode(tokenizer->encode(text));
    const std::string written = tokenizer->serialize();
    const auto again = load_tokenizer(tokenizer->file_name(), written, "written");
    expect(again->serialize() == written);
  } catch (const Error&) {
  }
  return 0;
}
