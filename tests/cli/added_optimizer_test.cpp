// An optimizer is one function and one row of a table, and so is a schedule: these come from here,
// and train, stop and resume without a line in src/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error_of.h"
#include "base/input_file.h"
#include "base/temporary_folder.h"
#include "cli/command.h"
#include "cli/output.h"
#include "step/optimizers.h"
#include "step/schedule.h"

namespace heed {
namespace {

using testing::HasSubstr;

// w <- w - rate sign(b1 m + (1 - b1) g),  m <- b2 m + (1 - b2) g     (Lion: Chen et al. 2023)
template <class T>
void lion(const Stretch<T>& s) {
  const T rate = static_cast<T>(s.update.rate), clip = static_cast<T>(s.update.clip);
  const T b1 = static_cast<T>(s.config.betas[0]), b2 = static_cast<T>(s.config.betas[1]);
  for (std::size_t i = 0; i < s.size; ++i) {
    const T d = clip * s.g[i], u = b1 * s.m[i] + (1 - b1) * d;
    s.w[i] = s.keep * s.w[i] - rate * static_cast<T>((u > 0) - (u < 0));
    s.m[i] = b2 * s.m[i] + (1 - b2) * d;
    s.g[i] = 0;
  }
}

// A straight line up and down again, every ten steps.
double triangle(const OptimizerConfig& c, int, double step) {
  return c.learning_rate * (1 - std::abs(std::fmod(step, 10) - 5) / 10);
}

void heed(const std::vector<std::string>& args) {
  EXPECT_NO_THROW(EXPECT_EQ(run_command(args), Exit::ok)) << args[0];
}

// What a command prints.
std::string told(const std::vector<std::string>& args) {
  testing::internal::CaptureStdout();
  heed(args);
  flush_output();
  return testing::internal::GetCapturedStdout();
}

TEST(AddedOptimizer, TrainsStopsAndResumesAndIsDocumentedAndChecked) {
  optimizers().push_back({{"lion", "moves every number by the rate", {"betas"}},
                          {{{"lion.m."}, {lion<float>, lion<double>}}},
                          [](const OptimizerConfig&, const ParamInfo&) { return 0; }});
  schedules().push_back({{"triangle", "", {}}, triangle});
  const TemporaryFolder folder;
  const auto path = [&](const std::string& name) { return std::string(folder.path() / name); };
  std::ofstream(path("text")) << std::string(2000, 'a') + std::string(2000, 'b');
  std::ofstream(path("c.json")) << R"({"data": {"train": "text"}, "tokenizer": {"type": "char"},
    "model": {"d_model": 16, "n_heads": 2, "d_ff": 16, "encoder_layers": 0, "decoder_layers": 1},
    "objective": {"type": "causal_lm", "target_length": 16},
    "optimizer": {"type": "lion", "schedule": "triangle", "learning_rate": 0.003},
    "train": {"batch_tokens": 256, "max_steps": 60, "eval_every": 20}})";

  heed({"train", path("c.json"), "--run", path("run"), "--quiet"});
  heed({"train", path("c.json"), "--run", path("halves"), "--stop-at", "30", "--quiet"});
  heed({"resume", path("halves"), "--quiet"});
  EXPECT_THAT(read_file(path("run/train.log"), 1 << 20),
              HasSubstr("learning rate (triangle): 3e-05 at step 1, 0.0015 at step 60, before "
                        "optimizer.warmup_steps are over"));
  for (const char* file : {"model.safetensors", "training.safetensors"}) {
    const std::string name = std::string("/checkpoints/step-00000060/") + file;
    EXPECT_EQ(read_file(path("run" + name), 1 << 24), read_file(path("halves" + name), 1 << 24));
  }
  EXPECT_THAT(read_file(path("run/checkpoints/step-00000060/training.safetensors"), 1 << 24),
              HasSubstr("\"lion.m.embed_tokens.weight\""));
  heed({"verify", path("run")});
  EXPECT_LT(nlohmann::json::parse(told({"evaluate", path("run"), "--json"}))["loss"], 0.3);

  const std::string docs = told({"config", "--docs"});
  EXPECT_THAT(docs, HasSubstr("lion: moves every number by the rate"));
  EXPECT_THAT(docs, HasSubstr("adamw, adam, muon, lion: decay of Adam's two running averages"));
  expect_error(
      [&] {
        run_command({"config", path("c.json"), "--set", "optimizer.weight_decay=1"});
      },
      Exit::usage, {"optimizer.type", "lion"});
}

}  // namespace
}  // namespace heed
