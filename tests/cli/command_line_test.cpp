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
      {"eval run", "unknown command \"eval\"; heed calls it evaluate."},
      {"train.py a.txt", "unknown command \"train.py\"; did you mean \"train\"?"},
      {"train a.json --lr 1e-3",
       "\"--lr\"; it is a key of the config: --set optimizer.learning_rate=1e-3."},
      {"train a.json --max-iters=9", "--set train.max_steps=9."},
      {"train a.json --batch-size 12", "--set train.batch_tokens=VALUE (it counts the tokens"},
      {"train a.txt -minutes 5", "unknown option \"-minutes\"; did you mean \"--minutes\"?"},
      {"train a.txt --minutes five", "--minutes: expected a number from 0.001 to 1000000"},
      {"train a.txt --threads 1.5", "--threads: expected a whole number from 0 to 1024; found"},
      {"attend run --layer -1", "--layer: expected a whole number of at least 0; found \"-1\"."},
      {"sample run --top-p high", "cannot read the value of --top-p = high."},
      {"sample run --top-p 0", "--top-p: it must be greater than 0 and at most 1"},
      {"sample run --top-p nan", "--top-p: it must be greater than 0 and at most 1"},
      {"sample run --temperature -1",
       "--temperature: expected a finite number of at least 0; found"},
      {"sample run --temperature inf",
       "--temperature: expected a finite number of at least 0; found"},
      {"sample run --temperature nan",
       "--temperature: expected a finite number of at least 0; found"},
      {"sample run --top-k -1", "--top-k: expected a whole number of at least 0; found"},
      {"sample run --min-p 1.1", "--min-p: expected a number from 0 to 1; found"},
      {"sample run --repetition-penalty 0", "--repetition-penalty: expected a number from 0.01 to"},
      {"translate run --length-penalty nan", "--length-penalty: expected a number from 0 to 10;"},
      {"evaluate run --length-penalty 11", "--length-penalty: expected a number from 0 to 10;"},
      {"evaluate run -", "unexpected argument \"-\"."},
      {"train a.json --d-model", "--set model.d_model=VALUE."},
      {"train a.json --output-dir x", "\"--output-dir\"; heed calls it --run."},
      {"train a.json --device cuda", "\"--device\"; heed computes on the CPU"},
      {"sample run --length 5", "\"--length\"; heed calls it --max-tokens."},
      {"sample --model run", "\"--model\"; heed calls it RUN."},
      {"sample run --prompt text", "heed calls it TEXT (or the lines of a file: --file"},
      {"attend run --source text", "heed calls it TEXT (or the lines of a file: --file"},
      {"sample run --prompt-file text", "heed calls it --file."},
      {"translate run --input lines", "heed calls it --file."},
      {"evaluate run --data a.txt", "heed calls it --file."},
      {"evaluate run --source a.txt", "heed calls it --file."},
      {"evaluate run --target a.txt", "did you mean \"--target-file\"?"},
      {"report run --out a.html", "\"--out\"; heed calls it --html."},
      {"attend run --output a.html", "\"--output\"; heed calls it --html."},
      {"tokenize run --source", "heed calls it --side (source or target)."},
      {"inspect run --lr 1", "unknown option \"--lr\"."},
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
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  EXPECT_EQ(json["data"]["train"],
            (folder / "a.txt").string());  // what is printed may be kept elsewhere
  EXPECT_EQ(json["model"]["d_model"], 64);
  EXPECT_EQ(json["optimizer"]["betas"], nlohmann::json::parse("[0.8, 0.9]"));
  EXPECT_EQ(json["train"]["shards"], 4);
}

TEST(CommandLine, SchemaIsJson) {
  const auto schema = nlohmann::json::parse(run_heed("config --schema").out);
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

TEST(CommandLine, ClosedOutputIsSilent) {
  // A pipe without a reader.
  const Result piped = run_heed("config --schema 2>&1 > >(exec true) ");
  EXPECT_EQ(piped.out, "");
  const TemporaryFolder folder;
  const std::string errors = folder.path() / "stderr";
  const Result pipe = run_heed("--help 2>" + errors + " | true; echo ${PIPESTATUS[0]}");
  EXPECT_TRUE(pipe.out == "141\n" || pipe.out == "0\n") << pipe.out;  // 0: it finished first
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
