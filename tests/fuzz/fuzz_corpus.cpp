// A corpus; the first byte says how it is read: as text, lines, TSV or two sides of parallel lines;
// lower-cased, normalised, as any bytes. What begins like gzip is unpacked.
#include "data/corpus.h"

#include "base/utf8.h"
#include "fuzz.h"

using namespace heed;

namespace {

// A file as a text: without a byte order mark, with a newline at its end.
std::string as_text(std::string_view bytes) {
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  return std::string(bytes) + (bytes.ends_with('\n') ? "" : "\n");
}

void read(int way, std::string_view bytes, const ReadOptions& options) {
  static const FuzzFolder folder;
  const std::string_view halves[] = {bytes.substr(0, bytes.size() / 2),
                                     bytes.substr(bytes.size() / 2)};
  const auto first = folder.write("first", halves[0]), second = folder.write("second", halves[1]);
  if (way == 0) {
    const std::string text = read_text(std::vector{first, second}, options);
    const bool changed = options.lowercase || options.normalize != Normalize::none;
    const bool packed = bytes.find_first_of("\x1F\xFD") != std::string_view::npos;  // perhaps
    expect(!options.any_bytes || changed || packed ||
           text == as_text(halves[0]) + as_text(halves[1]));
  } else if (way == 1) {
    read_text(std::vector{second}, options);
  } else {
    const Pairs pairs =
        way == 2 ? read_tsv(second, options) : read_parallel(first, second, options);
    expect(pairs.source.size() == pairs.target.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    read(data[0] / 4 % 4, view(data + 1, size - 1),
         {(data[0] & 1) != 0, (data[0] & 2) != 0, static_cast<Normalize>(data[0] / 16 % 3)});
  } catch (const Error&) {
  }
  return 0;
}
