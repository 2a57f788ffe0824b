#include "base/sha256.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/temporary_folder.h"

namespace heed {
namespace {

// Examples of FIPS 180-2, appendix B.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, AFileHasTheDigestOfItsBytes) {
  TemporaryFolder folder;
  const std::string bytes(700000, 'a');  // several pieces
  replace_file(folder.path() / "a", bytes);
  InputFile file(folder.path() / "a");
  EXPECT_EQ(sha256_of(file), sha256(bytes));
}

}  // namespace
}  // namespace heed
