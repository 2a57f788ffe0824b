#include "store/run_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>

#include "base/faulty_calls.h"
#include "store/new_runs.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

TEST_F(Writer, ARunThatIsBeingWrittenIsNeitherOpenedNorRenamed) {
  RunWriter writer = new_run(run_);
  writer.write_config("{}");
  expect_error([&] { new_run(run_, true); }, Exit::usage,
               {run_.string(), std::to_string(::getpid())});
  expect_error([&] { RunWriter::open(run_); }, Exit::usage,
               {run_.string(), std::to_string(::getpid())});
  EXPECT_THAT(names_in(run_.parent_path()), ElementsAre("run"));
}

TEST_F(Writer, LinksFollowTheBestAndTheLastAndOldOnesGoASaveLater) {
  {
    RunWriter writer = new_run(run_);
    SmallModel unvalidated(10);
    unvalidated.state.valid_loss = kNotMeasured;
    writer.save(unvalidated.contents(), {2});
    EXPECT_EQ(link("best"), "step-00000010");
    writer.save(at(20, 20).contents(), {2});
    for (const int step : {30, 40, 50}) writer.save(at(step, 20).contents(), {2});
    EXPECT_EQ(link("best"), "step-00000020");
    EXPECT_EQ(link("last"), "step-00000050");
    EXPECT_THAT(list_steps(run_), ElementsAre(20, 30, 40, 50));
  }
  EXPECT_THAT(list_steps(run_), ElementsAre(20, 40, 50));
  RunWriter::open(run_).save(at(60, 60).contents(), {1});
  EXPECT_THAT(names_in(run_ / "checkpoints"), ElementsAre("best", "last", "step-00000060"));
  write_checkpoint(run_ / "checkpoints", "average-1-60", at(60, 60).contents());
  RunWriter::open(run_).save(at(70, 60).contents(), {1});
  EXPECT_THAT(names_in(run_ / "checkpoints"),
              ElementsAre("average-1-60", "best", "last", "step-00000060", "step-00000070"));
}

TEST_F(Writer, TheBestStaysIfItsStateCannotBeReadForAWhile) {
  {
    RunWriter writer = new_run(run_);
    writer.save(at(10, 10).contents(), {1});
    replace_file(checkpoint("step-00000010/state.json"), "for now");
    for (const int step : {20, 30}) writer.save(at(step, 10).contents(), {1});
  }
  EXPECT_EQ(link("best"), "step-00000010");
  EXPECT_THAT(list_steps(run_), ElementsAre(10, 30));
}

TEST_F(Writer, WhatCouldNotBeReadIsNotRemoved) {
  new_run(run_).save(at(10, 10).contents(), {1});
  replace_file(checkpoint("step-00000010/state.json"), "for now");
  for (const int step : {20, 30}) RunWriter::open(run_).save(at(step, 30).contents(), {1});
  EXPECT_THAT(list_steps(run_), ElementsAre(10, 30));
}

TEST_F(Writer, ACheckpointThatResumingSkippedIsNotTheBest) {
  {
    RunWriter writer = new_run(run_);
    for (const int step : {10, 20}) writer.save(at(step, 20).contents(), {0});
    EXPECT_EQ(writer.best()->step, 20);
  }
  RunWriter writer = RunWriter::open(run_);
  writer.finish_save(10, {0});
  EXPECT_EQ(writer.best()->step, 10);
  EXPECT_EQ(link("best"), "step-00000010");
}

TEST_F(Writer, CheckpointsThatAreALinkAreNotWritten) {
  RunWriter writer = new_run(run_);
  writer.save(at(10, 10).contents(), {1});
  const fs::path real = folder_.path() / "elsewhere";
  fs::rename(run_ / "checkpoints", real);
  fs::create_directory_symlink(real, run_ / "checkpoints");
  const std::vector<std::string> before = names_in(real);
  expect_error([&] { writer.save(at(20, 20).contents(), {1}); }, Exit::store,
               {(run_ / "checkpoints").string()});
  { const RunWriter gone = std::move(writer); }  // and with it the lock
  for (const auto& write :
       {std::function([&] { RunWriter::open(run_); }), std::function([&] { new_run(run_, true); })})
    expect_error(write, Exit::store, {(run_ / "checkpoints").string()});
  EXPECT_EQ(names_in(real), before);
  EXPECT_EQ(find_checkpoint(run_).filename(), "step-00000010");  // readers follow it
}

TEST_F(Writer, RemovedCheckpointsAreForgotten) {
  RunWriter writer = new_run(run_);
  for (const int step : {10, 20}) writer.save(at(step, 10).contents(), {0});
  fs::remove_all(run_ / "checkpoints");
  writer.save(at(30, 10).contents(), {0});  // not better than what is gone
  EXPECT_THAT(names_in(run_ / "checkpoints"), ElementsAre("best", "last", "step-00000030"));
  EXPECT_EQ(link("best"), "step-00000030");
  EXPECT_THAT(writer.take_notes(),
              ElementsAre(testing::HasSubstr((run_ / "checkpoints").string())));
}

TEST_F(Writer, ADamagedStepThatCannotBeRenamedStays) {
  struct Overlay : TestCalls {
    int rename(const char* from, const char* to) override {
      if (!std::string_view(from).ends_with("/step-00000020")) return SystemCalls::rename(from, to);
      errno = EXDEV;
      return -1;
    }
  } calls;
  new_run(run_).save(at(10, 10).contents(), {0});
  std::filesystem::create_directory(checkpoint("step-00000020"));
  std::ofstream(checkpoint("step-00000020/model.safetensors")) << "weights";
  RunWriter writer = RunWriter::open(run_);
  expect_error(
      [&] {
        writer.begin_writing({{checkpoint("step-00000020"), "no state"}});
      },
      Exit::store, {"step-00000020", "--run DIR"});
  EXPECT_TRUE(path_exists(checkpoint("step-00000020/model.safetensors")));
}

TEST_F(Writer, DamagedLaterStepsDoNotPushOutWholeOnes) {
  RunWriter writer = new_run(run_);
  for (const int step : {10, 40, 50}) writer.save(at(step, 10).contents(), {0});
  writer.save(at(20, 10).contents(), {2});  // resumed from 10, since 40 and 50 were damaged
  EXPECT_THAT(list_steps(run_), ElementsAre(10, 20, 40, 50));
}

TEST_F(Writer, OpeningRemovesLeftoversOfKilledSavesAndRepairsLinks) {
  {
    RunWriter writer = new_run(run_);
    writer.save(at(10, 10).contents(), {3});
    writer.save(at(20, 20).contents(), {3});
  }
  // Killed after the rename of step 20, before the links; and within another save and a pruning.
  replace_symlink(checkpoint("last"), "step-00000010");
  replace_symlink(checkpoint("best"), "step-00000010");
  fs::create_directories(checkpoint(".tmp-step-00000030"));
  fs::create_directories(checkpoint(".tmp-removed-step-00000005"));
  fs::rename(checkpoint("step-00000010"), checkpoint(".tmp-old-step-00000010"));
  fs::create_symlink("step-00000020", checkpoint(".tmp-last"));
  replace_file(run_ / ".tmp-config.json", "{");
  fs::create_directories(run_ / ".tmp-notes");  // the user's

  RunWriter::open(run_);
  EXPECT_THAT(names_in(run_ / "checkpoints"),
              ElementsAre("best", "last", "step-00000010", "step-00000020"));
  EXPECT_THAT(names_in(run_),
              ElementsAre(".lock", ".tmp-notes", "chain.jsonl", "checkpoints", "config.json",
                          "film.jsonl", "metrics.jsonl", "origin.json"));
  RunWriter::open(run_).finish_save(20, {3});
  EXPECT_EQ(link("last"), "step-00000020");
  EXPECT_EQ(link("best"), "step-00000020");
  // Killed before the pruning.
  RunWriter::open(run_).finish_save(20, {1});
  EXPECT_THAT(list_steps(run_), ElementsAre(20));
}

TEST_F(Writer, MetricsAreCutBackToTheStep) {
  RunWriter writer = new_run(run_);
  for (const char* line : {R"({"kind":"event","text":"start"})", R"({"kind":"train","step":1})",
                           R"({"kind":"train","step":2})", R"({"kind":"valid","step":2})",
                           R"({"kind":"train","step":3})"}) {
    writer.append(kMetrics, line);
  }
  std::ofstream(run_ / "metrics.jsonl", std::ios::app) << "torn{\n"
                                                       << R"({"step":2)";
  writer.copy_lines(run_, 2);
  const std::string kept =
      "{\"kind\":\"event\",\"text\":\"start\"}\n{\"kind\":\"train\",\"step\":1}\n"
      "{\"kind\":\"train\",\"step\":2}\n{\"kind\":\"valid\",\"step\":2}\n";
  EXPECT_EQ(metrics(), kept);
  std::ofstream(run_ / "metrics.jsonl", std::ios::app) << R"({"step":2})";  // torn all the same
  writer.copy_lines(run_, 2);
  writer.append(kMetrics, R"({"kind":"train","step":3})");
  EXPECT_EQ(metrics(), kept + "{\"kind\":\"train\",\"step\":3}\n");
  writer.copy_lines(run_, 0);
  EXPECT_EQ(metrics(), kept.substr(0, kept.find('\n') + 1));
}

TEST_F(Writer, LinesAreBegunAgainIfTheirFileWasMovedButNotAFilm) {
  RunWriter writer = new_run(run_);
  for (const char* file : {kMetrics, kFilm}) {
    writer.append(file, R"({"step":1})");
    fs::rename(run_ / file, folder_.path() / file);
  }
  writer.append(kMetrics, R"({"step":2})");
  EXPECT_TRUE(writer.take_notes().empty());
  writer.append(kFilm, R"({"step":2})");
  writer.append(kFilm, R"({"step":3})");
  EXPECT_THAT(writer.take_notes(), ElementsAre(::testing::HasSubstr("film.jsonl")));
  EXPECT_EQ(metrics(), "{\"step\":2}\n");
  EXPECT_EQ(read_file(folder_.path() / kMetrics, 100), "{\"step\":1}\n");
  writer.save(at(10, 10).contents(), {1});
  EXPECT_FALSE(path_exists(run_ / kFilm));
}

TEST_F(Writer, AFolderThatWasMovedIsNotFollowedAndAnotherInItsPlaceIsLeftAlone) {
  RunWriter writer = new_run(run_);
  fs::rename(run_, folder_.path() / "moved");
  const auto is_refused = [&] {
    expect_error([&] { writer.save(at(10, 10).contents(), {1}); }, Exit::store, {run_.string()});
    writer.append(kMetrics, R"({"step":1})");
  };
  is_refused();
  RunWriter other = new_run(run_);
  is_refused();
  EXPECT_EQ(metrics(), "");
  EXPECT_TRUE(list_steps(run_).empty());
}

TEST_F(Writer, SavingInTheBackgroundWhileMetricsGrow) {
  RunWriter writer = new_run(run_);
  const SmallModel model = at(10, 10);
  std::thread saving([&] {
    for (int i = 0; i < 10; ++i) writer.save(model.contents(), {1});
  });
  for (int i = 0; i < 1000; ++i) writer.append(kMetrics, "{\"step\":10}");
  saving.join();
  writer.copy_lines(run_, 10);
  EXPECT_EQ(metrics().size(), 1000 * std::string("{\"step\":10}\n").size());
  EXPECT_EQ(expect_whole(find_checkpoint(run_)), 10);
}

// Every call of a save with links and pruning fails, once or from then on.
TEST_F(Writer, AfterEveryFailureOfASaveTheRunContinuesFromAWholeCheckpoint) {
  std::set<std::string> kinds;
  for (const bool for_good : {false, true})
    kinds.merge(for_each_failure(
        {.for_good = for_good}, [&](const fs::path& folder, FaultyCalls& calls, auto begin) {
          const fs::path run = folder / "run";
          RunWriter writer = new_run(run);
          for (const int step : {10, 20}) writer.save(at(step, 10).contents(), {1});
          begin();
          try {
            writer.save(at(30, 30).contents(), {1});
          } catch (const Error& e) {
            EXPECT_EQ(e.exit(), Exit::store);
            expect_facts(e.what(), {"No space left", run.string()});
          }
          // Readers see intact best and last at once.
          EXPECT_THAT(expect_whole(find_checkpoint(run, "best")), ::testing::AnyOf(10, 30));
          EXPECT_THAT(expect_whole(find_checkpoint(run, "last")), ::testing::AnyOf(20, 30));
          EXPECT_TRUE(newest_checkpoint(run).damaged.empty());
          // The disk works again: the same process saves the next step.
          calls.fail_at = 0;
          writer.save(at(40, 40).contents(), {1});
          EXPECT_THAT(names_in(run / "checkpoints"), ::testing::Contains("step-00000040"));
          EXPECT_EQ(expect_whole(find_checkpoint(run, "best")), 40);
        }));
  EXPECT_TRUE(kinds.contains("symlink"));
  EXPECT_TRUE(kinds.contains("remove"));
}

}  // namespace
}  // namespace heed
