#include "data/own_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

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
  EXPECT_TRUE(facts.utf8);
  EXPECT_EQ(facts.bytes, 9u);
  EXPECT_EQ(facts.characters, 5u);
  EXPECT_EQ(facts.distinct, 4);
}

TEST_F(OwnTextFiles, ARareCharacterIsNotCommon) {
  const std::string files[] = {
      write("a", std::string(50'000, 'x') + std::string(50'000, 'y') + "z")};
  const TextFacts facts = text_facts(files);
  EXPECT_EQ(facts.distinct, 3);
  EXPECT_EQ(facts.common, 2);
}

TEST_F(OwnTextFiles, BytesThatAreNoTextAreSeenEvenLate) {
  const std::string files[] = {write("a", std::string(3'000'000, 'x') + "\xff")};
  const TextFacts facts = text_facts(files);
  EXPECT_FALSE(facts.utf8);
  EXPECT_EQ(facts.bytes, 3'000'001u);
  EXPECT_EQ(facts.distinct, 0);
}

}  // namespace
}  // namespace heed
