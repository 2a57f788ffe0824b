// Whole trainings whose result is known: copying and reversing must be learnt in a few hundred
// steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/temporary_folder.h"
#include "data/dataset.h"
#include "math/blas.h"
#include "store/trained_model.h"
#include "train/start.h"

namespace heed {
namespace {

// Is every label the most probable one, given those before it? Then greedy decoding writes exactly
// the labels.
bool exact(const TrainedModel& m, const Example& e) {
  Batch batch;
  batch.add(e.source, e.target);
  Workspace workspace;
  Pass<float> pass{.values = m.values, .workspace = workspace};
  TransformerSaved<float> saved;
  const Mat<float> hidden = m.model.forward(pass, batch, saved);
  const Mat<float> logits = m.model.output.forward(pass, hidden);
  for (std::size_t r = 0; r < e.labels.size(); ++r) {
    const float* row = logits.data + r * logits.stride;
    if (std::max_element(row, row + logits.cols) - row != e.labels[r]) return false;
  }
  return true;
}

double exact_share(const std::string& task) {
  const TemporaryFolder folder;
  const std::string run = folder.path() / task;
  prepare_blas();
  Log log({.quiet = true});
  TrainRequest request;
  const std::string configs = HEED_SOURCE_DIR "/configs";
  request.run.folder = run;
  const RunConfig config = load_config(configs + "/" + task + ".json");
  EXPECT_EQ(train_run(request, config, configs, log).exit, Exit::ok);
  const TrainedModel m = load_trained_model(run, "best");
  const std::string data = HEED_SOURCE_DIR "/data/" + task + ".test.";
  const Split split =
      load_pairs(read_parallel(data + "source", data + "target", {}), m.config, m.tokenizers);
  const ExampleList examples = m.objective->evaluation(split);
  std::int64_t right = 0;
  EXPECT_GT(examples.count, 100);
  for (std::int64_t i = 0; i < examples.count; ++i) {
    Example e;
    examples.get(i, e);
    right += exact(m, e);
  }
  std::filesystem::remove_all(run);
  return static_cast<double>(right) / static_cast<double>(examples.count);
}

TEST(Toy, CopyIsLearnt) {
  EXPECT_GT(exact_share("copy"), 0.99);
}
TEST(Toy, ReverseIsLearnt) {
  EXPECT_GT(exact_share("reverse"), 0.99);
}

}  // namespace
}  // namespace heed
