// A GPT of 26,000 weights learns a string by heart, one character at a time. It uses nothing but
// heed's heart (src/math, src/nn, src/step) and OpenBLAS:
//
//   cmake --build build --target heed_tiny && build/heed_tiny
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "base/noise.h"
#include "math/blas.h"
#include "step/stepper.h"

using namespace heed;

static const std::string kText =
    "The wind asked the sea who moves the waves. I do, said the sea, when you sing. "
    "The sea asked the wind who carries the song. You do, said the wind, when you move. ";
static const int kWindow = 32, kWindowsPerStep = 8, kSteps = 300;

// Windows of the text that begin anywhere. Each character is a label of the row before it.
static StepBatch windows(const std::vector<int>& ids, int step) {
  StepBatch batch{.shards = {{Batch{}}}, .used = {1}};
  for (int i = 0; i < kWindowsPerStep; ++i) {
    const std::size_t places = ids.size() - kWindow;
    const auto begin = ids.begin() + hash64(step * kWindowsPerStep + i) % places;
    const std::vector<int> read(begin, begin + kWindow), labels(begin + 1, begin + kWindow + 1);
    batch.shards[0][0].add({}, read, labels);  // no source: there is no encoder
  }
  batch.tokens = batch.labels = kWindowsPerStep * kWindow;
  return batch;
}

// The model reads the last characters of `ids`, and the most probable next one is appended.
static void write_one(const Transformer& model, const ParamVec<float>& values,
                      std::vector<int>& ids) {
  Workspace workspace;
  Pass<float> pass{.values = values, .workspace = workspace, .forward_only = true};
  Batch batch;
  batch.add({}, {ids.end() - std::min<std::size_t>(ids.size(), kWindow), ids.end()});
  TransformerSaved<float> saved;
  const Mat<float> hidden = model.forward<float>(pass, batch, saved);   // [rows, d_model]
  const Mat<float> logits = model.output.forward<float>(pass, hidden);  // [rows, vocabulary]
  const float* last = logits.row(logits.rows - 1);
  ids.push_back(static_cast<int>(std::max_element(last, last + logits.cols) - last));
}

int main() {
  std::map<char, int> id_of;  // the vocabulary: the characters of the text
  for (const char c : kText) id_of.emplace(c, static_cast<int>(id_of.size()));
  std::string character(id_of.size(), ' ');
  for (const auto& [c, id] : id_of) character[id] = c;
  std::vector<int> text;
  for (const char c : kText) text.push_back(id_of[c]);

  ModelConfig config;
  config.d_model = 32;
  config.n_heads = 4;
  config.d_ff = 128;
  config.encoder_layers = 0;
  config.decoder_layers = 2;
  config.positions = Positions::rotary;
  config.dropout = config.attention_dropout = config.activation_dropout = 0;
  const int vocabulary = static_cast<int>(id_of.size());
  const Transformer model(config, vocabulary, vocabulary);  // names and shapes, but no numbers

  prepare_blas();  // OpenBLAS stays on the thread that calls it
  Pool pool(1);
  StepOptions options;
  options.optimizer.learning_rate = 0.01;
  options.optimizer.weight_decay = 0.01;
  options.optimizer.decay_steps = kSteps;
  options.optimizer.warmup_steps = 20;
  Stepper stepper(model, options, pool);  // the numbers: weights, gradients, moments

  std::printf("%zu weights; a guess costs %.2f nats\n", model.table.size(), std::log(vocabulary));
  for (int step = 1; step <= kSteps; ++step) {
    const StepResult result = stepper.gradient(step, windows(text, step));
    stepper.update(result);
    if (step == 1 || step % 50 == 0)
      std::printf("step %3d   loss %.4f   gradient %.3f\n", step, result.loss(),
                  result.gradient_norm);
  }

  std::vector<int> written(text.begin(), text.begin() + 9);  // "The wind "
  while (written.size() < text.size()) write_one(model, stepper.values(), written);
  for (const int id : written) std::putchar(character[id]);
  std::putchar('\n');
}
