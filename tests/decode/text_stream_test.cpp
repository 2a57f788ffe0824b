#include "decode/text_stream.h"

#include <gtest/gtest.h>

#include "text/trained_tokenizers.h"

namespace heed {
namespace {

struct Shown {
  std::string text;
  std::vector<std::string> parts;
  bool stopped = false;
};

Shown stream(const std::string& bytes, const std::vector<std::string>& stops) {
  const auto tokenizer = train(TokenizerConfig::byte, "xy");
  TextStream s(*tokenizer, -1, stops);
  Shown shown;
  for (const int id : tokenizer->encode(bytes)) {
    if (s.stopped()) break;
    shown.parts.push_back(s.push(id));
    shown.text += shown.parts.back();
  }
  shown.stopped = s.stopped();
  shown.text += s.finish();
  return shown;
}

TEST(TextStream, NeverShowsHalfACharacter) {
  const Shown s = stream("a\xC3\xA9\xE2\x82\xAC!", {});
  EXPECT_EQ(s.parts, (std::vector<std::string>{"a", "", "\xC3\xA9", "", "", "\xE2\x82\xAC", "!"}));
}

TEST(TextStream, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(stream("a\xFF"
                   "b\xC3",
                   {})
                .text,
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
}

TEST(TextStream, EndsBeforeAStopString) {
  const Shown s = stream("one. two", {"x", ". t"});
  EXPECT_TRUE(s.stopped);
  EXPECT_EQ(s.text, "one");
  for (const std::string& part : s.parts) EXPECT_EQ(part.find('.'), std::string::npos);
}

TEST(TextStream, ABeginningOfAStopStringComesAfterAll) {
  const Shown s = stream("aab aaab.", {"aaac", "ab!"});
  EXPECT_FALSE(s.stopped);
  EXPECT_EQ(s.text, "aab aaab.");
  EXPECT_TRUE(stream("aaaac", {"aaac"}).stopped);
  EXPECT_EQ(stream("aaaac", {"aaac"}).text, "a");
}

TEST(TextStream, TheSpaceOfTheFirstWordMayHaveBeenShown) {
  const auto tokenizer = train(TokenizerConfig::byte, "xy");
  for (const std::string first : {"", " "}) {
    TextStream s(*tokenizer, -1, {}, true);
    std::string shown;
    for (const int id : tokenizer->encode(first + "a b")) shown += s.push(id);
    EXPECT_EQ(shown, "a b");
  }
}

}  // namespace
}  // namespace heed
