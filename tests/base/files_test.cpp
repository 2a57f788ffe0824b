#include "base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error_of.h"
#include "base/faulty_calls.h"
#include "base/input_file.h"
#include "base/temporary_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  return read_file(path, 1 << 20);
}

TEST(Files, EveryFailureWhileReplacingLeavesTheOldOrTheNewFileAndNamesTheCause) {
  for (const int reason : {ENOSPC, EIO, EROFS, EACCES})
    for (const bool for_good : {false, true})
      for_each_failure({reason, for_good}, [&](const fs::path& folder, FaultyCalls&, auto begin) {
        const fs::path path = folder / "a";
        replace_file(path, "old");
        begin();
        try {
          replace_file(path, "new");
          EXPECT_EQ(contents(path), "new");
        } catch (const Error& e) {
          expect_facts(e.what(), {folder.string(), std::generic_category().message(reason)});
          EXPECT_THAT(contents(path), ::testing::AnyOf("old", "new"));
        }
      });
}

TEST(Files, AReplacementIsANewFileOfTheAskedModeFromItsFirstByte) {
  struct Opened : FaultyCalls {
    std::vector<std::pair<int, mode_t>> all;
    int open(const char* path, int flags, mode_t mode) override {
      if ((flags & O_CREAT) != 0) all.emplace_back(flags, mode);
      return FaultyCalls::open(path, flags, mode);
    }
  } calls;
  const TemporaryFolder folder;
  replace_file(folder.path() / "a", "private", 0600);
  ASSERT_EQ(calls.all.size(), 1u);
  EXPECT_TRUE(calls.all[0].first & O_EXCL);  // nobody else's, and no link
  EXPECT_EQ(calls.all[0].second, 0600u);
}

TEST(Files, ALineThatDoesNotFitIsTakenBack) {
  TemporaryFolder folder;
  FaultyCalls calls;
  calls.short_writes = true;
  const fs::path path = folder.path() / "lines";
  AppendFile lines(path);
  lines.append_line("{\"step\":1}");
  calls.fail_at = calls.calls + 2;  // the first 7 bytes are written
  expect_error([&] { lines.append_line("{\"step\":2}"); }, Exit::store,
               {path.string(), "No space left"});
  EXPECT_EQ(contents(path), "{\"step\":1}\n");
  lines.append_line("{\"step\":3}");
  EXPECT_EQ(contents(path), "{\"step\":1}\n{\"step\":3}\n");
}

TEST(Folders, LinksAreReplacedAndTreesRemovedWithoutFollowingLinks) {
  TemporaryFolder folder;
  const fs::path inside = folder.path() / "inside", outside = folder.path() / "outside";
  EXPECT_TRUE(make_folder(inside));
  EXPECT_FALSE(make_folder(inside));
  EXPECT_TRUE(make_folder(outside));
  replace_file(outside / "kept", "k");
  replace_symlink(inside / "link", "nowhere");
  replace_symlink(inside / "link", "../outside");
  EXPECT_EQ(fs::read_symlink(inside / "link"), "../outside");
  remove_tree(inside);
  remove_tree(inside);
  EXPECT_FALSE(path_exists(inside));
  EXPECT_EQ(contents(outside / "kept"), "k");
}

TEST(Folders, TooLittleSpaceIsSaid) {
  TemporaryFolder folder;
  EXPECT_GT(check_free_space(folder.path(), 1), 1);
  expect_error([&] { check_free_space(folder.path(), 5e18); }, Exit::store,
               {folder.path().string(), "4547474 TiB", "--run"});
}

TEST(Folders, AnEmptyFolderIsFilledOrStaysEmptyWhateverCallFails) {
  for_each_failure({}, [](const fs::path& folder, FaultyCalls& calls, auto begin) {
    begin();
    try {
      NewFolder made(folder);
      for (const char* name : {"a", "config.json", "z"}) replace_file(made.path() / name, name);
      made.put_in_place();
      calls.fail_at = 0;
      EXPECT_THAT(names_in(folder), ::testing::ElementsAre("a", "config.json", "z"));
      EXPECT_ANY_THROW(NewFolder{folder});
      EXPECT_THAT(names_in(folder), ::testing::ElementsAre("a", "config.json", "z"));
    } catch (const Error&) {
      EXPECT_EQ(calls.failures, 1);
      EXPECT_THAT(names_in(folder), ::testing::IsEmpty());
    }
  });
}

TEST(Folders, WhatIsThereIsNeitherReplacedNorRemoved) {
  const TemporaryFolder folder;
  const fs::path place = folder.path() / "place";
  make_folder(folder.path() / ".tmp-place");
  make_folder(folder.path() / ".tmp-place-mine");
  {
    NewFolder made(place);
    make_folder(place);  // meanwhile, by somebody
    EXPECT_ANY_THROW(made.put_in_place());
  }
  EXPECT_THAT(names_in(folder.path()),
              ::testing::ElementsAre(".tmp-place", ".tmp-place-mine", "place"));
}

}  // namespace
}  // namespace heed
