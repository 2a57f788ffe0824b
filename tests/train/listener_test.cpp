// A training announces itself; listeners are what is added to it, and change none of its numbers.
#include "train/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "math/blas.h"
#include "train/trainer.h"

namespace heed {
namespace {

// A listener of one file and one row: it writes a line a step.
class LineAStep : public Listener {
 public:
  explicit LineAStep(const std::string& file) : out_(file) {}
  void began(const Moment& m) override { out_ << "began " << m.state.step << "\n"; }
  bool looks_at(std::int64_t, bool validates) override {
    out_ << (validates ? "! " : "");
    return false;
  }
  void stepped(const Moment& m) override { out_ << "step " << m.state.step << "\n"; }
  void logged(const TrainEvent& line) override { out_ << "logged " << line.step << "\n"; }
  void validated(const ValidEvent& line, const Moment&) override {
    out_ << "validated " << line.step << "\n";
  }
  void ended(Stop, const Moment& m) override { out_ << "ended " << m.state.step << std::endl; }

 private:
  std::ofstream out_;
};

class ListenerTest : public testing::Test {
 protected:
  ListenerTest() {
    prepare_blas();
    std::ofstream text(folder_.path() / "a.txt");
    for (int i = 0; i < 100; ++i) text << "line " << i * i << " of a text\n";
  }
  PreparedRun prepared() const {
    return prepare_run(parse_config(R"({"data": {"train": "a.txt"}, "tokenizer": {"type": "char"},
                         "model": {"d_model": 8, "n_heads": 2, "d_ff": 8, "decoder_layers": 1,
                                   "encoder_layers": 0},
                         "objective": {"type": "causal_lm", "target_length": 8},
                         "train": {"batch_tokens": 64, "max_steps": 4, "eval_every": 2,
                                   "log_every": 3, "save_every": 1}})",
                                    "config"),
                       folder_.path(), {}, 1);
  }
  std::string path(const std::string& name) const { return folder_.path() / name; }

  TemporaryFolder folder_;
};

TEST_F(ListenerTest, HearsWhatHappensInOrder) {
  const PreparedRun run = prepared();
  RunWriter writer = RunWriter::create(path("run"), false);
  writer.put_in_place();
  Trainer trainer(run, &writer);
  Listeners all;
  all.push_back(std::make_unique<LineAStep>(path("steps.txt")));
  trainer.listen(std::move(all));
  EXPECT_EQ(trainer.run(0), Stop::finished);
  std::ifstream in(path("steps.txt"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}),
            "began 0\nstep 1\n! step 2\nvalidated 2\nstep 3\nlogged 3\n! step 4\nvalidated 4\n"
            "logged 4\nended 4\n");
}

TEST_F(ListenerTest, WithoutAnyAndWithoutARunTheNumbersAreTheSame) {
  const PreparedRun run = prepared();
  Trainer alone(run, nullptr);
  EXPECT_EQ(alone.run(0), Stop::finished);

  RunWriter writer = RunWriter::create(path("run"), false);
  writer.put_in_place();
  Log log({.quiet = true});
  Trainer heard(run, &writer);
  const LoggedEvents none;
  Film film(run.config, run.model, run.tokenizers, run.data);
  heard.listen(listeners({run, writer, log, none, film}));
  EXPECT_EQ(heard.run(0), Stop::finished);
  ASSERT_EQ(alone.values().size(), heard.values().size());
  EXPECT_TRUE(std::equal(alone.values().data(), alone.values().data() + alone.values().size(),
                         heard.values().data()));
  EXPECT_EQ(alone.state().best_loss, heard.state().best_loss);
}

TEST(Due, EverySoManyStepsOrEpochs) {
  // A step that ends `after` epochs, the one before it having ended `before`.
  const auto step = [](std::int64_t n, std::int64_t before = 0, std::int64_t after = 0) {
    return StepSpan{n, {before, 5}, {after, 0}};
  };
  EXPECT_TRUE(is_due({10}, step(20)));
  EXPECT_FALSE(is_due({10}, step(21)));
  EXPECT_FALSE(is_due({0}, step(20)));
  EXPECT_TRUE(is_due({2, true}, step(7, 3, 4)));
  EXPECT_FALSE(is_due({2, true}, step(7, 4, 5)));
  EXPECT_FALSE(is_due({2, true}, step(8, 4, 4)));
}

}  // namespace
}  // namespace heed
