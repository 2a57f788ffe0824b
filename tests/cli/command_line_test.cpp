// The program as a user starts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error_of.h"
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
  const std::pair<const char*, Facts> cases[] = {
      {"confg", {"confg", "config"}},
      {"--nonsense", {"heed --help"}},
      {"config", {"--schema", "--docs"}},
      {"config --schema --docs", {"CONFIG", "--schema", "--docs"}},
      {"config --bad", {"--bad", "heed config --help"}},
      {"config /nonexistent.json", {"/nonexistent.json", "No such file"}},
      {"config a.json --set", {"--set", "a.b=value"}},
      {"sample run --temprature 0.3", {"--temprature", "--temperature"}},
      {"sample run --top=3", {"--top=3", "--top-k", "--top-p"}},
      {"evaluate run another", {"another", "heed evaluate --help"}},
      {"evaluate run -- --foo", {"--foo", "heed evaluate --help"}},
      {"eval run", {"eval", "evaluate"}},
      {"train.py a.txt", {"train.py", "\"train\""}},
      {"train a.json --lr 1e-3", {"--lr", "--set optimizer.learning_rate=1e-3"}},
      {"train a.json --max-iters=9", {"--set train.max_steps=9"}},
      {"train a.json --batch-size 12", {"--set train.batch_tokens=VALUE"}},
      {"train a.txt -minutes 5", {"-minutes", "--minutes"}},
      {"train a.txt --minutes five", {"--minutes", "0.001", "1000000"}},
      {"train a.txt --threads 1.5", {"--threads", "0", "1024"}},
      {"attend run --layer -1", {"--layer", "0", "-1"}},
      {"sample run --top-p high", {"--top-p", "heed sample --help"}},
      {"sample run --top-p 0", {"--top-p", "1e-09", "1"}},
      {"sample run --top-p nan", {"--top-p", "1e-09", "1"}},
      {"sample run --temperature -1", {"--temperature", "0"}},
      {"sample run --temperature inf", {"--temperature", "0"}},
      {"sample run --temperature nan", {"--temperature", "0"}},
      {"sample run --top-k -1", {"--top-k", "0"}},
      {"sample run --top-k 2147483648", {"--top-k", "2147483647", "2147483648"}},
      {"sample run --seed 18446744073709551616", {"--seed", "18446744073709551615"}},
      {"sample run --max-tokens 0x10", {"--max-tokens", "100000000"}},
      {"resume run --more 1e3.5", {"--more", "500000000000"}},
      {"translate run --beam-size 1_0", {"--beam-size", "1000"}},
      {"sample run --min-p 1.1", {"--min-p", "0", "1"}},
      {"sample run --repetition-penalty 0", {"--repetition-penalty", "0.01"}},
      {"translate run --length-penalty nan", {"--length-penalty", "0", "10"}},
      {"evaluate run --length-penalty 11", {"--length-penalty", "0", "10"}},
      {"evaluate run -", {"heed evaluate --help"}},
      {"train a.json --d-model", {"--set model.d_model=VALUE"}},
      {"train a.json --output-dir x", {"--output-dir", "--run"}},
      {"train a.json --device cuda", {"--device", "CPU"}},
      {"sample run --length 5", {"--length", "--max-tokens"}},
      {"sample --model run", {"--model", "RUN"}},
      {"sample run --prompt text", {"TEXT", "--file"}},
      {"attend run --source text", {"TEXT", "--file"}},
      {"sample run --prompt-file text", {"--file"}},
      {"translate run --input lines", {"--file"}},
      {"evaluate run --data a.txt", {"--file"}},
      {"evaluate run --source a.txt", {"--file"}},
      {"evaluate run --target a.txt", {"--target", "--target-file"}},
      {"report run --out a.html", {"--out", "--html"}},
      {"attend run --output a.html", {"--output", "--html"}},
      {"tokenize run --source", {"--side"}},
      {"inspect run --lr 1", {"--lr", "heed inspect --help"}},
  };
  const TemporaryFolder folder;
  const std::string printed = folder.path() / "stdout";
  for (const auto& [args, facts] : cases) {
    SCOPED_TRACE(args);
    const Result result = run_heed(std::string(args) + " 2>&1 >" + printed);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.out, StartsWith("heed: error: "));
    expect_facts(result.out, facts);
    EXPECT_FALSE(std::ranges::all_of(facts, [&](const auto& fact) {
      return stands_in(args, fact);
    })) << "what was typed proves nothing";
    EXPECT_EQ(std::filesystem::file_size(printed), 0u);
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
  expect_facts(closed.out, {"standard output", "Bad file descriptor"});
  const Result result = run_heed("--help 2>&1 >/dev/full");
  EXPECT_EQ(result.status, 4);
  expect_facts(result.out, {"No space left on device"});
}

}  // namespace
}  // namespace heed
