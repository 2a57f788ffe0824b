#include "evaluate/xz_size.h"

#include <gtest/gtest.h>

#include <string>

namespace heed {
namespace {

std::uint64_t size_of(const std::string& text, std::size_t part) {
  XzSize xz;
  for (std::size_t i = 0; i < text.size(); i += part)
    xz.add(std::string_view(text).substr(i, part));
  return xz.finish();
}

// len(lzma.compress(text)) in Python 3.11; tests/cli/evaluate_test.py compares longer texts.
TEST(XzSize, IsThatOfPythonHoweverTheTextIsCut) {
  std::string lines, bytes;
  for (int i = 0; i < 1000; ++i) lines += "heed reads\n";
  for (int i = 0; i < 768; ++i) bytes += static_cast<char>(i % 256);
  EXPECT_EQ(size_of("", 1), 32u);
  for (const std::size_t part : {std::size_t{7}, lines.size()}) {
    EXPECT_EQ(size_of(lines, part), 124u);
    EXPECT_EQ(size_of(bytes, part), 304u);
  }
}

}  // namespace
}  // namespace heed
