#include "store/set_aside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/faulty_calls.h"
#include "store/layout.h"
#include "store/new_runs.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class Aside : public Writer {
 protected:
  Aside() {
    RunWriter writer = RunWriter::create(run_, false, {"{}", "{\"seed\": 1}", ""});
    for (const int step : {10, 20}) writer.save(at(step, 10).contents(), 0);
    writer.append(kMetrics, R"({"kind":"train","step":20})");
    std::ofstream(run_ / "notes.txt") << "the user's own";
  }
  fs::path old(int k) const { return run_.string() + ".old-" + std::to_string(k); }
  void expect_whole_copy(const fs::path& copy) const {
    EXPECT_THAT(names_in(copy), ElementsAre("chain.jsonl", "checkpoints", "config.json",
                                            "film.jsonl", "metrics.jsonl", "origin.json"));
    EXPECT_THAT(list_steps(copy), ElementsAre(10, 20));
    for (const char* link : {"best", "last"}) expect_whole(copy / kCheckpoints / link);
    for (const char* file : {kMetrics, kConfigFile})
      EXPECT_EQ(read_file(copy / file, 1 << 20), read_file(run_ / file, 1 << 20));
  }
};

TEST_F(Aside, TheCopyIsWholeAndWithoutTheUsersOwnFiles) {
  EXPECT_EQ(set_aside(run_), old(1));
  expect_whole_copy(old(1));
  EXPECT_EQ(set_aside(run_), old(2));
  expect_whole_copy(old(2));
  // A change to the run leaves the copy alone.
  RunWriter writer = RunWriter::open(run_);
  writer.drop_after(10);
  EXPECT_THAT(list_steps(run_), ElementsAre(10));
  expect_whole_copy(old(2));
}

TEST_F(Aside, ACheckpointThatWasBeingRemovedIsLeftOut) {
  std::filesystem::create_directory(checkpoint("step-00000030"));
  std::ofstream(checkpoint("step-00000030/model.safetensors")) << "cut short";
  expect_whole_copy(set_aside(run_));
}

TEST_F(Aside, WithoutHardLinksItIsCopied) {
  struct NoLinks : SystemCalls {
    int link(const char*, const char*) override { return errno = EPERM, -1; }
  } calls;
  EXPECT_EQ(set_aside(run_, calls), old(1));
  expect_whole_copy(old(1));
}

TEST_F(Aside, WhateverCallFailsTheRunIsAsItWasAndTheCopyWholeOrNotThere) {
  int fail_at = 1;
  for (bool failed = true; failed; ++fail_at) {
    SCOPED_TRACE(fail_at);
    FaultyCalls calls;
    calls.fail_at = fail_at;
    try {
      set_aside(run_, calls);
      failed = calls.failures > 0 && calls.kinds.contains("link");  // which are copied then
      expect_whole_copy(old(1));
    } catch (const Error& e) {
      EXPECT_EQ(e.exit(), Exit::store);
    }
    if (path_exists(old(1))) expect_whole_copy(old(1));
    for (const int step : {10, 20}) expect_whole(checkpoint("step-000000" + std::to_string(step)));
    remove_tree(old(1));
  }
  EXPECT_GT(fail_at, 30);
}

}  // namespace
}  // namespace heed
