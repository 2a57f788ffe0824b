#include "store/run_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "store/new_runs.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class Chain : public Writer {
 protected:
  std::string text() const { return read_file(run_ / kChain, 1 << 20); }
  std::vector<std::string> lines() const {
    std::istringstream all(text());
    std::vector<std::string> lines;
    for (std::string line; std::getline(all, line);) lines.push_back(line);
    return lines;
  }
  void put(const std::vector<std::string>& lines) const {
    std::ofstream file(run_ / kChain);
    for (const std::string& line : lines) file << line << "\n";
  }
};

TEST_F(Chain, AResumedRunAddsALineOnlyIfItGoesBackOrTheLineWasLost) {
  {
    RunWriter writer = new_run(run_);
    writer.write_config("{}");
    for (const int step : {10, 20}) writer.save(at(step, step).contents(), {0});
  }
  const std::string before = text();
  RunWriter writer = RunWriter::open(run_);
  writer.finish_save(20, {0});
  EXPECT_EQ(text(), before);
  put({lines()[0]});
  std::ofstream(run_ / kChain, std::ios::app) << "{\"step\":20,\"fi";
  writer.finish_save(20, {0});
  EXPECT_EQ(text(), before);
  writer.finish_save(10, {0});
  writer.save(at(20, 10).contents(), {0});
  EXPECT_EQ(lines().size(), 4u);
}

TEST_F(Chain, MultiplesOfKeepEveryStay) {
  {
    RunWriter writer = new_run(run_);
    for (const int step : {10, 20, 30, 40, 50, 60}) writer.save(at(step, 10).contents(), {1, 20});
  }
  EXPECT_THAT(list_steps(run_), ElementsAre(10, 20, 40, 60));
  for (const int step : {70, 90}) RunWriter::open(run_).save(at(step, 10).contents(), {2, 20});
  EXPECT_THAT(list_steps(run_), ElementsAre(10, 20, 40, 60, 70, 90));
}

TEST_F(Chain, ADamagedChainDoesNotStopTheTraining) {
  RunWriter writer = new_run(run_);
  fs::create_directory(run_ / kChain);
  writer.save(at(10, 10).contents(), {0});
  writer.save(at(20, 20).contents(), {0});
  EXPECT_EQ(writer.take_notes().size(), 1u);
  EXPECT_EQ(link("last"), "step-00000020");
}

}  // namespace
}  // namespace heed
