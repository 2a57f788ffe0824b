#include "store/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "base/faulty_calls.h"
#include "base/temporary_folder.h"
#include "store/small_checkpoint.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

std::map<std::string, std::string> bytes_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const std::string& name : names_in(folder)) {
    files[name] = read_file(folder / name, 1 << 20);
  }
  return files;
}

TEST(Checkpoint, WhatIsWrittenIsRead) {
  TemporaryFolder folder;
  write_checkpoint(folder.path(), "step-7", SmallModel(7).contents());
  EXPECT_EQ(expect_whole(folder.path() / "step-7"), 7);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-7"));
  EXPECT_THAT(names_in(folder.path() / "step-7"),
              ElementsAre("config.json", "model.safetensors", "source.tokenizer.json", "state.json",
                          "tokenizer.json", "training.safetensors"));
  const Checkpoint checkpoint = Checkpoint::open(folder.path() / "step-7");
  EXPECT_EQ(checkpoint.tokenizers[0].name, "source.tokenizer.json");
  EXPECT_EQ(checkpoint.tokenizers[1].bytes, "[\"a\", \"b\"]");
}

TEST(Checkpoint, AnExportedModelHasNoTrainingState) {
  TemporaryFolder folder;
  const SmallModel model(7);
  CheckpointContents contents = model.contents();
  contents.training.clear();
  contents.exported = true;
  write_checkpoint(folder.path(), "average-1-7", contents);
  const Checkpoint checkpoint = Checkpoint::open(folder.path() / "average-1-7");
  EXPECT_FALSE(checkpoint.has_training);
  EXPECT_FALSE(path_exists(folder.path() / "average-1-7/training.safetensors"));
  replace_file(folder.path() / "average-1-7/training.safetensors", "");
  expect_error([&] { Checkpoint::open(folder.path() / "average-1-7"); }, Exit::store,
               {"training.safetensors"});
}

TEST(Checkpoint, EveryFlippedByteIsRefusedAndTheFileNamed) {
  TemporaryFolder folder;
  write_checkpoint(folder.path(), "x", SmallModel(7).contents());
  for (const auto& [name, whole] : bytes_of(folder.path() / "x")) {
    const fs::path path = folder.path() / "x" / name;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const auto put = [&](char byte) { std::fstream(path).seekp(std::streamoff(i)).put(byte); };
      put(static_cast<char>(whole[i] ^ (1 << (i % 8))));
      SCOPED_TRACE(i);
      expect_error([&] { Checkpoint::open(folder.path() / "x"); }, Exit::store, {name});
      put(whole[i]);
    }
  }
  EXPECT_EQ(expect_whole(folder.path() / "x"), 7);
}

TEST(Checkpoint, EveryTruncationAndEveryTailIsRefusedAndTheFileNamed) {
  TemporaryFolder folder;
  write_checkpoint(folder.path(), "x", SmallModel(7).contents());
  for (const auto& [name, whole] : bytes_of(folder.path() / "x")) {
    const fs::path path = folder.path() / "x" / name;
    for (std::size_t length = whole.size(); length-- > 0;) {
      fs::resize_file(path, length);
      SCOPED_TRACE(length);
      expect_error([&] { Checkpoint::open(folder.path() / "x"); }, Exit::store, {name});
    }
    std::ofstream(path, std::ios::binary) << whole << '\0';
    expect_error([&] { Checkpoint::open(folder.path() / "x"); }, Exit::store, {name});
    std::ofstream(path, std::ios::binary) << whole;
  }
  EXPECT_EQ(expect_whole(folder.path() / "x"), 7);
}

TEST(Checkpoint, MissingStrangeAndLinkedFilesAreRefusedButDotFilesIgnored) {
  TemporaryFolder folder;
  write_checkpoint(folder.path(), "x", SmallModel(7).contents());
  const fs::path x = folder.path() / "x";
  for (const std::string& name : names_in(x)) {
    fs::rename(x / name, folder.path() / "away");
    expect_error([&] { Checkpoint::open(x); }, Exit::store, {(x / name).string()});
    fs::create_symlink("../away", x / name);
    expect_error([&] { Checkpoint::open(x); }, Exit::store, {(x / name).string()});
    fs::remove(x / name);
    fs::create_directory(x / name);
    expect_error([&] { Checkpoint::open(x); }, Exit::store, {(x / name).string()});
    fs::remove(x / name);
    fs::rename(folder.path() / "away", x / name);
  }
  replace_file(x / ".DS_Store", "left by a file manager");
  EXPECT_EQ(expect_whole(x), 7);
  replace_file(x / "notes.txt", "n");
  expect_error([&] { Checkpoint::open(x); }, Exit::store, {"notes.txt"});
}

// Writes step 2 over step 1.
std::set<std::string> fail_every_call(const Fault& fault) {
  return for_each_failure(fault, [&](const fs::path& folder, FaultyCalls& calls, auto begin) {
    write_checkpoint(folder, "x", SmallModel(1).contents());
    begin();
    bool thrown = false;
    try {
      write_checkpoint(folder, "x", SmallModel(2).contents());
    } catch (const Error& e) {
      thrown = true;
      EXPECT_EQ(e.exit(), Exit::store);
      expect_facts(e.what(), {std::generic_category().message(fault.reason), folder.string()});
    }
    calls.fail_at = 0;
    clean_up(folder);  // what the next process does first
    const std::int64_t step = expect_whole(folder / "x");
    EXPECT_THAT(names_in(folder), ElementsAre("x"));
    EXPECT_TRUE(thrown || step == 2);
    EXPECT_FALSE(thrown && fault.reason == EINTR) << "an interrupted call was not repeated";
  });
}

TEST(Checkpoint, AfterEveryFailureTheOldOrTheNewOneIsWhole) {
  std::set<std::string> kinds;
  for (const Fault& fault : {Fault{ENOSPC}, Fault{ENOSPC, true}, Fault{EIO}, Fault{EIO, true},
                             Fault{EINTR}, Fault{ENOSPC, false, true}})
    kinds.merge(fail_every_call(fault));
  EXPECT_THAT(kinds, ElementsAre("close", "fsync", "mkdir", "open", "remove", "rename", "write"));
}

}  // namespace
}  // namespace heed
