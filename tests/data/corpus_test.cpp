#include "data/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "base/packed.h"
#include "data/data_folder.h"
#include "text/utf8.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

// More than fits into one block of reading.
std::string long_text(std::string_view part) {
  std::string text;
  while (text.size() < 3'000'000) text += part;
  return text;
}

class Corpus : public DataFolder {
 protected:
  std::string text(std::vector<std::string> paths, ReadOptions options = {}) const {
    return read_text(paths, options);
  }
  static void expect_data_error(const std::function<void()>& action, const Facts& facts) {
    expect_error(action, Exit::data, facts);
  }
};

TEST_F(Corpus, FilesAreTextsOfTheirOwnWithEveryCharacter) {
  const std::string mark = "\xEF\xBB\xBF", text_a = "a\r\n\tb\u200B\n\nü";
  EXPECT_EQ(text({file("a", mark + text_a), file("b", mark + "Ä no newline"), file("c", "end\n")}),
            text_a + "\nÄ no newline\nend\n");
  EXPECT_EQ(text({file("c", "Ä NO\n")}, {.lowercase = true}), "ä no\n");
  EXPECT_EQ(text({file("c", std::string("\xFF\0", 2))}, {.any_bytes = true}),
            std::string("\xFF\0\n", 3));
}

TEST_F(Corpus, Utf16WithItsMarkIsReadAsTheSameText) {
  const std::u16string mark = u"\uFEFF", words = u"Zwölf 狐\r\n\U0001F98A\n";
  std::u16string whole = words;
  while (whole.size() < 1'100'000) whole += words;
  std::string utf8;
  for (std::size_t i = 0; i < whole.size() / words.size(); ++i) utf8 += "Zwölf 狐\r\n🦊\n";
  for (const bool big_endian : {false, true}) {
    std::string bytes;
    for (const char16_t unit : mark + whole)
      for (const bool second : {false, true})
        bytes += static_cast<char>(big_endian != second ? unit >> 8 : unit & 0xFF);
    for (const std::string& stored : {bytes, gzip(bytes)}) {
      TextNotes notes;
      EXPECT_TRUE(text({file("a", stored)}, {.notes = &notes}) == utf8);
      EXPECT_THAT(notes.utf16, ElementsAre(EndsWith("/a")));
    }
    EXPECT_TRUE(text({file("a", bytes)}, {.any_bytes = true}) == bytes + (big_endian ? "" : "\n"));
    EXPECT_TRUE(text({file("a", bytes)}, {.any_bytes = true, .decoded = true}) == utf8);
    const std::string tab =
        big_endian ? std::string("\xFE\xFF\0x\0\t\0y", 8) : std::string("\xFF\xFEx\0\t\0y\0", 8);
    const Pairs pairs = read_tsv(file("p", tab), {});
    EXPECT_THAT(pairs.target, ElementsAre("y"));
    EXPECT_EQ(pairs.notes.size(), 1u);
  }
  // Half a pair of surrogates, and half a unit, are no characters.
  const std::string start("\xFF\xFEw\0o\0r\0d\0s\0", 12);
  for (const std::string& end : {std::string("\x3E\xD8z\0", 4), std::string("z")})
    expect_data_error([&] { text({file("a", start + end)}); }, {"/a:1", "UTF-8"});
}

TEST_F(Corpus, WhatMayBeOutOfPlaceIsSaid) {
  const std::string inside = "ab\ncd\r\n";
  TextNotes notes;
  EXPECT_EQ(text({file("a", inside)}, {.notes = &notes}), inside);
  ASSERT_EQ(notes.in_words().notes.size(), 1u);
  expect_facts(notes.in_words().notes[0], {"1", "\\r"});
}

TEST_F(Corpus, FewBadBytesAreReplacedAndCounted) {
  std::string bytes = "one\ntw\xF6";
  bytes += std::string(2'000'000, 'x') + "\xE2\x82";
  const std::string path = file("a", bytes);
  TextNotes notes;
  const std::string read = text({path}, {.notes = &notes});
  EXPECT_TRUE(read == "one\ntw\uFFFD" + std::string(2'000'000, 'x') + "\uFFFD\uFFFD\n");
  EXPECT_EQ(notes.bad_bytes, 3u);
  ASSERT_EQ(notes.in_words().warnings.size(), 1u);
  expect_facts(notes.in_words().warnings[0], {"3", "UTF-8", "U+FFFD", "/a:2"});
  expect_data_error([&] { text({path}); }, {"/a:2", "UTF-8"});
  const std::string many = file("b", "one\ntw\xF6" + std::string(900, 'x'));
  expect_data_error([&] { text({many}, {.notes = &notes}); }, {"/b:2", "UTF-8"});
}

TEST_F(Corpus, PackedTextsAreReadAsWhatTheyHold) {
  std::string whole;
  while (whole.size() < 3'000'000) whole += "Wörter, " + std::to_string(whole.size());
  whole += '\n';
  const std::string plain = file("plain", whole);
  const std::string path = file("packed", gzip(whole));
  EXPECT_TRUE(text({path, plain}) == whole + whole);
  std::vector<std::string> parts, expected;  // cut at the same places, too
  scan_text(std::array{path}, {}, [&](std::string_view s) { parts.emplace_back(s); });
  scan_text(std::array{plain}, {}, [&](std::string_view s) { expected.emplace_back(s); });
  EXPECT_TRUE(parts == expected);
  const std::string pairs = file("pairs", gzip("a\tb\n"));
  EXPECT_THAT(read_tsv(pairs, {}).target, ElementsAre("b"));
  expect_data_error([&] { text({file("bad", gzip("good\n\xFF"))}); }, {"/bad:2", "UTF-8"});
}

TEST_F(Corpus, NormalisationDoesNotDependOnWhereTheTextIsCutAtLines) {
  const std::string lines = long_text("\n\u0301e\u0301 \u0301");
  for (const std::string shift : {"", "x", "xx"})
    for (const Normalize form : {Normalize::nfc, Normalize::nfkc}) {
      const std::string path = file("a", shift + lines);
      const std::string expected = normalize(shift + lines + "\n", form);
      EXPECT_TRUE(text({path}, {.normalize = form}) == expected);
    }
  EXPECT_EQ(text({file("A", "E\u0301")}, {.lowercase = true, .normalize = Normalize::nfc}),
            "\u00E9\n");
}

TEST_F(Corpus, InvalidUtf8NamesLineAndByte) {
  const std::string bad = file("bad", "good\nsch\xF6n\n");
  expect_data_error([&] { text({bad}); }, {"/bad:2", "UTF-8", "4", "8", "0xF6"});
  EXPECT_EQ(text({bad}, {.any_bytes = true}), "good\nsch\xF6n\n");
  // A character may not be spread over two files.
  const std::string half = file("half", "a\xC3");
  expect_data_error([&] { text({half, file("rest", "\xA4")}); }, {"/half:1", "UTF-8", "2"});
  // Far into a file, after many blocks, also in the middle of one long line.
  std::string large;
  for (int i = 0; i < 400'000; ++i) large += i % 1000 ? "ääh " : "x\n";
  expect_data_error([&] { text({file("large", large + "\xE2\x96.")}); },
                    {"/large:401", "UTF-8", "5995"});
}

TEST_F(Corpus, ChunksAreTheTextCutBetweenWordsOrCharacters) {
  const std::string lines = long_text("Wörter und Zeilen\n"),
                    words = long_text("Wörter ohne Zeilen ") + "\n",
                    characters = long_text("€") + "\n";
  for (const std::string& whole : {lines, words, characters}) {
    const std::string path = file("chunks", whole);
    std::string joined;
    std::size_t chunks = 0, largest = 0;
    scan_text(std::array{path}, {}, [&](std::string_view chunk) {
      const bool last = joined.size() + chunk.size() == whole.size();
      if (!last && whole == lines) {
        EXPECT_EQ(chunk.back(), '\n');
      }
      if (whole == words && !joined.empty()) {
        EXPECT_EQ(chunk.front(), ' ');
      }
      EXPECT_NO_THROW(check_utf8(chunk, "chunk"));
      joined += chunk;
      largest = std::max(largest, chunk.size());
      ++chunks;
    });
    EXPECT_EQ(joined, whole);
    EXPECT_GE(chunks, 2u);
    EXPECT_LE(largest, 2'200'000u);
  }
}

TEST_F(Corpus, AByteOrderMarkAndWhatEndsALineAreNoPartOfIt) {
  const std::string mark = "\xEF\xBB\xBF";
  const Pairs pairs = read_parallel(file("bs", mark + "one\r\n" + mark + "two"),
                                    file("bt", mark + "eins\nzwei\n"), {});
  EXPECT_THAT(pairs.source, ElementsAre("one", mark + "two"));  // only at the start of a file
  EXPECT_EQ(pairs.target[0], "eins");
  EXPECT_EQ(read_tsv(file("bp", mark + "a\tb\n"), {}).source[0], "a");
}

TEST_F(Corpus, ColumnsOfATable) {
  const string table = file("t", "go\twent\tV;PAST\nbe\twas\tV;PAST\n");
  EXPECT_EQ(table_columns(table), 3u);
  EXPECT_EQ(table_columns(file("two", "a\tb\n\nc\td\n")), 2u);
  EXPECT_EQ(table_columns(file("uneven", "a\tb\nc\n")), 1u);
  EXPECT_EQ(
      table_columns(file("one", "a\tb\tc\na\tb\na\tb\na\tb\na\tb\na\tb\na\tb\na\tb\na\tb\na\tb\n")),
      2u);  // one of ten is an error, which read_tsv() names
  EXPECT_EQ(table_columns(file("line", "\n")), 1u);
  EXPECT_EQ(table_columns(file("indented", "\tx = 1\n\ty = 2\n")), 1u);
  const Pairs pairs = read_tsv(table, {}, "1,3:2");
  EXPECT_THAT(pairs.source, ElementsAre("go V;PAST", "be V;PAST"));
  EXPECT_THAT(pairs.target, ElementsAre("went", "was"));
  expect_error([&] { read_tsv(table, {}); }, Exit::data, {"t:1", "3 columns", "--columns"});
  expect_error([&] { read_tsv(table, {}, "1:4"); }, Exit::data, {"t:1", "1:4"});
  for (const char* wrong : {"1", "1:", ":1", "1:2:3", "1,:2", "0:1", "a:b", "1 : 2"})
    expect_error([&] { read_tsv(table, {}, wrong); }, Exit::usage, {"data.columns", wrong});
}

TEST_F(Corpus, EmptyPairsAreLeftOutAndCounted) {
  const Pairs tsv = read_tsv(file("q", "a\tb\n\n\tx\nc\td\nx\t \n \t\n"), {});
  EXPECT_THAT(tsv.source, ElementsAre("a", "c"));
  EXPECT_THAT(tsv.target, ElementsAre("b", "d"));
  EXPECT_THAT(tsv.lines, ElementsAre(1, 4));
  EXPECT_THAT(tsv.warnings, ElementsAre(AllOf(HasSubstr("4 of 6 pairs"), EndsWith("/q:2"))));
  const Pairs two = read_parallel(file("s", "a\n \r\nc\n"), file("t", "b\nx\n\n"), {});
  EXPECT_THAT(two.source, ElementsAre("a"));
  EXPECT_THAT(two.warnings, ElementsAre(AllOf(HasSubstr("2 of 3 pairs"), EndsWith("/s:2"))));
  EXPECT_THAT(read_tsv(file("whole", "a\tb\n"), {}).warnings, ElementsAre());
}

TEST_F(Corpus, APathThatIsNotUtf8IsRefused) {
  EXPECT_NO_THROW(check_writable("café/text"));
  EXPECT_THROW(check_writable("caf\xe9/text"), Error);
}

TEST_F(Corpus, FactsCountCharactersAndFindTheFirstInvalidByteEvenLate) {
  const TextFacts two = text_facts(std::vector{file("a", "aé"), file("b", "é天\n")});
  EXPECT_TRUE(two.bad_files.empty());
  EXPECT_EQ(two.bytes, 10u);
  EXPECT_EQ(two.characters, 6u);
  EXPECT_EQ(two.distinct, 4);
  const std::string rare = std::string(50'000, 'x') + std::string(50'000, 'y') + "z";
  const TextFacts many = text_facts(std::vector{file("a", rare)});
  EXPECT_EQ(many.distinct, 4);  // and the newline
  EXPECT_EQ(many.common, 2);
  const std::string bad = file("bad", std::string(3'000'000, 'x') + "\nx\xff\xff");
  EXPECT_EQ(text_facts(std::vector{file("good", "\xEF\xBB\xBFgood\n"), bad}).first_bad,
            bad + ":2 (offset 3000002 in the file)");
}

TEST_F(Corpus, AFileThatIsNoTextIsRefusedWithWhatItSeemsToBe) {
  const auto refuses = [](const std::string& path, const Facts& facts) {
    expect_error([&] { find_texts({path}, false); }, Exit::data, facts);
  };
  using namespace std::string_literals;
  EXPECT_NO_THROW(find_texts({file("a", "\xFF\xFEh\0i\0"s)}, false));
  refuses(file("a", "\xFF\xFE\0\0h\0\0\0"s), {"iconv -f UTF-32 -t UTF-8"});
  refuses(file("a.png", "\x89PNG\r\n"), {"a.png", "PNG"});
  refuses(file("a", "h\0i\0"s), {"iconv -f UTF-16LE -t UTF-8"});
  refuses(file("a", gzip("\0h\0i"s)), {"iconv -f UTF-16BE -t UTF-8"});
  refuses(file("a", "hi, h\0i, hi"s), {"0"});
  refuses(file("a", "\xCD\xE5\xF2, \xED\xE5\xF2"), {folder_ + "/a"});  // Windows-1251
  EXPECT_NO_THROW(find_texts({file("a", "caf\xe9 au lait")}, false));
  EXPECT_THAT(find_texts({file("a", "\0"s)}, true).files, ElementsAre(folder_ + "/a"));
}

}  // namespace
}  // namespace heed
