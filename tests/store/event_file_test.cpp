#include "store/event_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "base/temporary_folder.h"

namespace heed {
namespace {

// RFC 3720, appendix B.4.
TEST(EventFile, HasTheChecksumsOfRfc3720) {
  std::string rising, falling;
  for (char i = 0; i < 32; ++i) {
    rising += i;
    falling += static_cast<char>(31 - i);
  }
  std::string read = "\x01\xc0" + std::string(14, '\0') + "\x14" + std::string(5, '\0') + "\x04";
  read += std::string(3, '\0') + "\x14" + std::string(3, '\0') + "\x18\x28" + std::string(7, '\0') +
          "\x02" + std::string(7, '\0');
  read.resize(48);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(rising), 0x46dd794eu);
  EXPECT_EQ(crc32c(falling), 0x113fdb5cu);
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
}

TEST(EventFile, IsNewAtEveryStartAndInAFolderOfItsOwn) {
  const TemporaryFolder folder;
  const auto place = folder.path() / "tensorboard";
  const auto sizes = [&] {
    std::vector<std::uintmax_t> all;
    for (const std::string& name : names_in(place))
      all.push_back(std::filesystem::file_size(place / name));
    return all;
  };
  { EventFile(place).scalar(3, "loss", 1.5f); }
  const auto first = sizes();
  EventFile(place).text(4, "text", "two\nlines");
  ASSERT_EQ(sizes().size(), 2u);
  EXPECT_EQ(sizes()[0], first[0]);
  // A reader reads it last, also where the clock was set back.
  std::ofstream(place / "events.out.tfevents.9999999998.1");
  EventFile last(place);
  EXPECT_EQ(names_in(place).back(), "events.out.tfevents.9999999999.100000");
  remove_tree(place);
  make_folder(place);
  std::filesystem::create_directory_symlink(place, folder.path() / "link");
  std::ofstream(folder.path() / "file");
  EXPECT_THROW(EventFile(folder.path() / "link"), Error);
  EXPECT_THROW(EventFile(folder.path() / "file"), Error);
}

}  // namespace
}  // namespace heed
