// The names of texts. tests/cli/own_text_test.py trains on some.
#include "train/text_start.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/temporary_folder.h"

namespace heed {
namespace {

TEST(NameOfText, IsThatOfTheFileOrFolderWithoutEndings) {
  EXPECT_EQ(name_of_text("-"), "stdin");
  EXPECT_EQ(name_of_text("a/mine.txt"), "mine");
  EXPECT_EQ(name_of_text("mine.txt.gz"), "mine");
  EXPECT_EQ(name_of_text("my.own.novel.txt"), "my.own.novel");
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "texts.d");
  for (const char* end : {"", "/", "/."})
    EXPECT_EQ(name_of_text((folder.path() / "texts.d").string() + end), "texts.d");
}

}  // namespace
}  // namespace heed
