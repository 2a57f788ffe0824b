// A corpus: as one text, as lines, as TSV and as the two sides of parallel lines.
#include "fuzz.h"
#include "text/corpus.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const FuzzFolder folder;
  if (size == 0) return 0;
  const ReadOptions options{(data[0] & 1) != 0, (data[0] & 2) != 0};
  const std::string_view bytes = view(data + 1, size - 1);
  const std::string whole = folder.write("whole", bytes);
  const std::string one = folder.write("one", bytes.substr(0, bytes.size() / 2));
  const std::string two = folder.write("two", bytes.substr(bytes.size() / 2));
  const auto attempt = [](const auto& read) {
    try {
      read();
    } catch (const Error&) {
    }
  };
  attempt([&] {
    const std::string text = read_text(std::vector{one, two}, options);
    expect(split_text(text, 0.1) <= text.size());
    if (options.any_bytes && !options.lowercase) expect(text == bytes);
  });
  attempt([&] { read_lines(whole, options); });
  attempt([&] {
    const Pairs pairs = read_tsv(whole, options);
    expect(pairs.source.size() == pairs.target.size());
  });
  attempt([&] {
    const Pairs pairs = read_parallel(one, two, options);
    expect(pairs.source.size() == pairs.target.size());
  });
  return 0;
}
