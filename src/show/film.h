// The film of a run: where the model looks, what it writes, and what a step does to its matrices,
// as it learns. All frames are about one fixed piece of the held-out text (of the training text if
// nothing is held out), which the probe names. Both are records (store/run_records.h); which steps
// have a frame says show/frame_calendar.h.
//
// The config alone decides how long the piece and the texts are, so that a frame is neither large
// nor slow. The frames of a model of more than some 1,400 heads carry no maps. Texts
// are drawn with a fixed seed, and translations are the most probable ones.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "data/dataset.h"
#include "data/objective.h"
#include "decode/predictor.h"
#include "show/head_names.h"
#include "store/run_records.h"

namespace heed {

struct FilmedFrame {
  Frame frame;
  std::string sample;  // what the model writes, as text, for the log
};

class Film {
 public:
  // References must outlive the film.
  Film(const RunConfig& config, const Transformer& model, const Tokenizers& tokenizers,
       const Dataset& data);

  // The weights that the run began with: from now on frames name heads.
  void began_with(const ParamVec<float>& initial);
  bool empty() const { return question_.read.tokens() == 0; }  // no example to show: no film
  Probe probe() const;
  double cost() const;  // of a frame, at most, in steps of training
  // `known`: its step, losses and matrices. `predictor`: the model, with the values that validation
  // and samples use. Error (diverged) if the model's numbers are not finite.
  FilmedFrame frame(Frame known, const Predictor& predictor) const;

 private:
  std::string shown(const TokenIds& ids, const Tokenizer& tokenizer, const char* between) const;
  std::string shown_answer(const TokenIds& ids) const;
  int most_written(std::size_t prompt) const;
  TokenIds written(const Predictor& predictor, std::size_t prompt) const;
  std::string completed(const TokenIds& ids, const char* open, const char* close) const;
  std::string sample(const TokenIds& ids) const;
  double probe_loss(const Predictor& predictor) const;

  const Transformer& model_;
  const Tokenizers& tokenizers_;
  const int batch_tokens_, threads_, written_;
  const bool with_maps_;
  std::unique_ptr<const Objective> objective_;
  Question question_;
  const Split& split_;
  std::optional<HeadProbe> heads_;
  HeadScores untrained_;
};

// Where the word at byte `at` of a text begins; that byte's character if no space is near before
// it.
std::size_t word_begin(std::string_view text, std::size_t at);

// The bytes that filming keeps: two copies of the recorded matrices or, at the end, the weights of
// the best checkpoint; and a frame's gradient (the pull).
double film_memory(const ParamTable& table);

}  // namespace heed
