// An objective is one class and one row of the table: this one comes from here, and is trained,
// stopped, resumed, evaluated, scored, sampled, looked into and reported without a line in src/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/input_file.h"
#include "base/noise.h"
#include "base/temporary_folder.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/objective.h"
#include "show/page.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr Use kAnswers{"sample", "texts to answer", "Type a text for the model to answer."};

// The encoder reads [BACK] and a tile of a text; the decoder writes the tile backwards and </s>.
class Backwards final : public TextObjective {
 public:
  explicit Backwards(const RunConfig& c)
      : TextObjective(c,
                      {.longest_source = c.objective.target_length + 1,
                       .longest_target = c.objective.target_length + 1,
                       .before_source = 1,
                       .use = &kAnswers,
                       .bits_per_byte = false,
                       .specials = {"[BACK]"}},
                      c.objective.target_length) {}

  TokenIds framed_source(TokenIds tokens) const override {
    tokens.insert(tokens.begin(), Tokenizer::kFirstFurther);
    return tokens;
  }

  ScoredLine score(const TokenIds&, const TokenIds& line, int vocab) const override {
    ScoredLine scored = TextObjective::score({}, line, vocab);
    scored.ids.clear();
    for (const Example& e : scored.examples)
      scored.ids.insert(scored.ids.end(), e.labels.begin(), e.labels.end());
    return scored;
  }

  Question question(const Split& split, Tile prompt, int, int) const override {
    const Tile tile = tile_at(split, prompt.begin);
    Question q;
    read_tile(split.target, tile, kEvaluation, q.read);
    q.prompts.push_back(part(split.target, tile.begin, tile.end));
    q.expected.push_back({q.prompts[0].rbegin(), q.prompts[0].rend()});
    return q;
  }

 private:
  void read_tile(const Ids& text, Tile tile, std::int64_t, Example& out) const override {
    const TokenIds tokens = part(text, tile.begin, tile.end);
    out.source = framed_source(tokens);
    out.labels.assign(tokens.rbegin(), tokens.rend());
    out.target = framed_target(out.labels);
    out.labels.push_back(Tokenizer::kEos);
  }
};

// What a command of heed prints.
std::string heed(const std::vector<std::string>& args) {
  testing::internal::CaptureStdout();
  EXPECT_NO_THROW(EXPECT_EQ(run_command(args), Exit::ok)) << args[0];
  flush_output();
  return testing::internal::GetCapturedStdout();
}

TEST(AddedObjective, IsTrainedResumedEvaluatedScoredSampledLookedIntoAndReported) {
  objectives().push_back(
      {{"backwards", "the decoder writes backwards what the encoder reads", {"target_length"}},
       [](const RunConfig& c) -> std::unique_ptr<const Objective> {
         return std::make_unique<Backwards>(c);
       }});
  const TemporaryFolder folder;
  const auto at = [&](const std::string& name) { return std::string(folder.path() / name); };
  std::ofstream text(at("text"));
  for (std::uint64_t i = 0; i < 3999; ++i) text << "abcdef"[hash64(i) % 6];
  text << '\n';
  text.close();
  std::ofstream(at("lines")) << "abcd\nfe\n";
  std::ofstream(at("config.json")) << R"({
    "data": {"train": "text", "valid_fraction": 0.1}, "tokenizer": {"type": "char"},
    "objective": {"type": "backwards", "target_length": 4},
    "model": {"d_model": 32, "n_heads": 2, "d_ff": 64, "encoder_layers": 1, "decoder_layers": 1,
              "dropout": 0.01, "tie": "output"},
    "optimizer": {"learning_rate": 0.01, "warmup_steps": 20},
    "train": {"batch_tokens": 500, "max_steps": 200, "eval_every": 50}})";
  // A run of 200 steps, and one that was stopped at step 90 and resumed on more threads.
  heed({"train", at("config.json"), "--run", at("run"), "--threads", "1", "--quiet"});
  heed({"train", at("config.json"), "--run", at("halves"), "--stop-at", "90", "--threads", "1",
        "--quiet"});
  heed({"resume", at("halves"), "--threads", "2", "--quiet"});
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(at("run/checkpoints/step-00000200"))) {
    names.push_back(file.path().filename());
    const std::string other = at("halves/checkpoints/step-00000200/" + names.back());
    EXPECT_EQ(read_file(file.path(), 1 << 24), read_file(other, 1 << 24)) << names.back();
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("model.safetensors", "training.safetensors",
                                                   "config.json", "tokenizer.json", "state.json"));

  const json evaluated = json::parse(heed({"evaluate", at("run"), "--json"}));
  EXPECT_EQ(evaluated["tokens"], 400 + 100);  // each tile of four, and its </s>
  EXPECT_GT(evaluated["accuracy"], 0.95);
  EXPECT_FALSE(evaluated.contains("bits_per_byte"));

  const std::string lines = heed({"score", at("run"), "--file", at("lines"), "--json"});
  const json scored = json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(scored["tokens"], json({"d", "c", "b", "a", "</s>"}));
  EXPECT_EQ(scored["source_ids"].size(), 5u);
  EXPECT_EQ(scored["source_ids"][0], 3);
  EXPECT_GT(scored["logprob"], -0.5);

  EXPECT_EQ(heed({"sample", at("run"), "abcf", "--temperature", "0"}), "fcba\n");

  const json seen = json::parse(heed({"attend", at("run"), "beda", "--json"}));
  EXPECT_EQ(seen["source_tokens"], json({"[BACK]", "b", "e", "d", "a"}));
  EXPECT_EQ(seen["target_tokens"], json({"<s>", "a", "d", "e", "b"}));
  const Json shown = report(at("run"));
  const std::string prompt = shown["prompts"][0], right = shown["expected"][0];
  EXPECT_EQ(right, std::string(prompt.rbegin(), prompt.rend()));
  EXPECT_EQ(shown["frames"].back()["written"][0], right);
}

}  // namespace
}  // namespace heed
