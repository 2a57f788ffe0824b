#include "data/own_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error_of.h"
#include "base/packed.h"
#include "base/temporary_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class OwnTextFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(OwnTextFiles, APathThatIsNotUtf8IsRefused) {
  EXPECT_NO_THROW(check_writable("café/text"));
  EXPECT_THROW(check_writable("caf\xe9/text"), Error);
}

TEST_F(OwnTextFiles, CharactersAreCountedNotBytes) {
  const std::string files[] = {write("a", "aé"), write("b", "é天\n")};
  const TextFacts facts = text_facts(files);
  EXPECT_FALSE(facts.too_many_bad);
  EXPECT_EQ(facts.bytes, 10u);
  EXPECT_EQ(facts.characters, 6u);
  EXPECT_EQ(facts.distinct, 4);
}

TEST_F(OwnTextFiles, ARareCharacterIsNotCommon) {
  const std::string files[] = {
      write("a", std::string(50'000, 'x') + std::string(50'000, 'y') + "z")};
  const TextFacts facts = text_facts(files);
  EXPECT_EQ(facts.distinct, 4);  // and the newline
  EXPECT_EQ(facts.common, 2);
}

TEST_F(OwnTextFiles, TheFirstInvalidByteIsFoundEvenLate) {
  const std::string good = write("good", "\xEF\xBB\xBFgood\n");
  const std::string bad = write("bad", std::string(3'000'000, 'x') + "\nx\xff\xff");
  const TextFacts facts = text_facts(std::vector{good, bad});
  EXPECT_EQ(facts.first_bad, bad + ":2 (offset 3000002 in the file)");
  EXPECT_FALSE(facts.too_many_bad);
  EXPECT_EQ(facts.bytes, 3'000'010u);  // without the byte order mark, with the last newline
  EXPECT_EQ(facts.distinct, 6);
}

TEST_F(OwnTextFiles, AFileThatIsNoTextIsRefusedWithWhatItSeemsToBe) {
  const auto refuses = [](const std::string& file, const Facts& facts) {
    expect_error([&] { find_texts({file}, false); }, Exit::data, facts);
  };
  using namespace std::string_literals;
  EXPECT_NO_THROW(find_texts({write("a", "\xFF\xFEh\0i\0"s)}, false));
  refuses(write("a", "\xFF\xFE\0\0h\0\0\0"s), {"iconv -f UTF-32 -t UTF-8"});
  refuses(write("a.png", "\x89PNG\r\n"), {"a.png", "PNG"});
  refuses(write("a", "%PDF-1.4\n"), {"PDF"});
  refuses(write("a", "h\0i\0"s), {"iconv -f UTF-16LE -t UTF-8"});
  refuses(write("a", gzip("\0h\0i"s)), {"iconv -f UTF-16BE -t UTF-8"});
  refuses(write("a", "hi, h\0i, hi"s), {"0"});
  refuses(write("a", "\xCD\xE5\xF2, \xED\xE5\xF2"), {(folder_ / "a").string()});  // Windows-1251
  EXPECT_NO_THROW(find_texts({write("a", "caf\xe9 au lait")}, false));
  EXPECT_THAT(find_texts({write("a", "\0"s)}, true).files, ElementsAre(folder_ / "a"));
}

TEST_F(OwnTextFiles, OfAFolderTheTextsAreTakenAndTheRestIsNamed) {
  for (const char* folder : {"t/deep", "t/.git", "none/deep"})
    fs::create_directories(folder_ / folder);
  const std::string a = write("t/a.txt", "text"), b = write("t/b.gz", gzip("text"));
  const std::string png = write("t/a.png", "\x89PNG"), empty = write("t/empty", "");
  write("none/a.png", "\x89PNG");
  const FoundTexts found = find_texts({b, folder_ / "t"}, false);
  EXPECT_THAT(found.files, ElementsAre(b, a, b));
  EXPECT_THAT(found.left_out, ElementsAre(png, empty, (folder_ / "t/deep/").string()));
  EXPECT_THROW(find_texts({folder_ / "none"}, false), Error);
}

}  // namespace
}  // namespace heed
