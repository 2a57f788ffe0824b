// The program as a user starts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/temporary_folder.h"
#include "cli/process.h"

namespace heed {
namespace {

using test::Result;
using test::run_heed;
using testing::HasSubstr;
using testing::StartsWith;

class ConfigFile : public testing::Test {
 protected:
  ConfigFile() { std::ofstream(path_) << "{\"data\": {\"train\": \"a.txt\"}}"; }
  TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "config.json";
};

TEST(CommandLine, NoArgumentsPrintHelp) {
  const Result bare = run_heed("2>/dev/null");
  EXPECT_EQ(bare.status, 0);
  EXPECT_THAT(bare.out, HasSubstr("config"));
  EXPECT_EQ(run_heed("--help").out, bare.out);
}

TEST(CommandLine, VersionNamesBuildCompilerAndBlas) {
  const Result result = run_heed("--version");
  EXPECT_EQ(result.status, 0);
  for (const char* part :
       {"heed " HEED_VERSION, "build: ", "compiler: ", "OpenBLAS", "core type: "})
    EXPECT_THAT(result.out, HasSubstr(part));
}

TEST(CommandLine, MistakesAreUsageErrorsOnStandardError) {
  const std::pair<const char*, const char*> cases[] = {
      {"confg", "did you mean \"config\"?"},
      {"--nonsense", "unknown command \"--nonsense\""},
      {"config", "expected one of CONFIG, --schema and --docs"},
      {"config --schema --docs", "expected one of CONFIG"},
      {"config --bad", "--bad"},
      {"config /nonexistent.json", "\"/nonexistent.json\": No such file"},
      {"config a.json --set", "--set"},
      {"sample run --temprature 0.3",
       "unknown option \"--temprature\"; did you mean \"--temperature\"?"},
      {"sample run --top=3", "unknown option \"--top=3\"; did you mean \"--top-"},
      {"evaluate run another", "unexpected argument \"another\"."},
      {"evaluate run -- --foo", "\"--foo\""},
  };
  for (const auto& [args, message] : cases) {
    const Result result = run_heed(std::string(args) + " 2>&1 >/dev/null");
    EXPECT_EQ(result.status, 2) << args;
    EXPECT_THAT(result.out, StartsWith("heed: error: ")) << args;
    EXPECT_THAT(result.out, HasSubstr(message)) << args;
    EXPECT_EQ(run_heed(std::string(args) + " 2>/dev/null").out, "") << args;
  }
}

TEST(CommandLine, HelpOfACommandIsOnStandardOutput) {
  const Result result = run_heed("config --help 2>/dev/null");
  EXPECT_EQ(result.status, 0);
  for (const char* option : {"--set", "--schema", "--docs", "--json"})
    EXPECT_THAT(result.out, HasSubstr(option));
}

TEST_F(ConfigFile, PrintsTheEffectiveConfig) {
  const Result result =
      run_heed("config " + path_ + " --set model.d_model=64 --set optimizer.betas=[0.8,0.9]");
  EXPECT_EQ(result.status, 0);
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["data"]["train"], "a.txt");
  EXPECT_EQ(json["model"]["d_model"], 64);
  EXPECT_EQ(json["optimizer"]["betas"], nlohmann::json::parse("[0.8, 0.9]"));
  EXPECT_EQ(json["train"]["shards"], 4);
}

TEST(CommandLine, SchemaIsJson) {
  const auto schema = nlohmann::json::parse(run_heed("config --schema").out);
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

TEST(CommandLine, ClosedOutputIsSilent) {
  // A pipe that nobody reads.
  const Result piped = run_heed("config --schema 2>&1 > >(exec true) ");
  EXPECT_EQ(piped.out, "");
  const TemporaryFolder folder;
  const std::string errors = folder.path() / "stderr";
  const Result pipe = run_heed("--help 2>" + errors + " | true; echo ${PIPESTATUS[0]}");
  EXPECT_TRUE(pipe.out == "141\n" || pipe.out == "0\n") << pipe.out;  // 0: it was quicker
  EXPECT_EQ(std::filesystem::file_size(errors), 0u);
}

TEST(CommandLine, AFullDiskUnderStandardOutputOrNoneAtAllIsTold) {
  const Result closed = run_heed("--help 2>&1 >&-");
  EXPECT_EQ(closed.status, 4);
  EXPECT_THAT(closed.out, HasSubstr("cannot write to standard output: Bad file descriptor"));
  const Result result = run_heed("--help 2>&1 >/dev/full");
  EXPECT_EQ(result.status, 4);
  EXPECT_THAT(result.out, HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace heed
