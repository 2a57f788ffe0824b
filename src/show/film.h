// The film of a run: where the model looks, what it writes, and what a step does to its matrices,
// as it learns. All frames are about one prompt (show/prompt.h), which the probe names. Both are
// records (store/run_records.h).
//
// The config alone decides how long the piece and the texts are, so that a frame is neither large
// nor slow. The frames of a model of more than some 900 heads carry no maps. Texts are drawn with a
// fixed seed, and translations are the most probable ones.
//
// Maps are text: a byte for each number, in base64, in the order layer, head, query, key, which
// web/maps.js unpacks. A byte b is the weight (b / 255)^2, so that small ones can be told apart; of
// the pull (show/pull.h) it is largest (b - 128) |b - 128| / 127^2 nats per unit of score.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/std_names.h"
#include "data/dataset.h"
#include "data/objective.h"
#include "decode/predictor.h"
#include "show/head_words.h"
#include "store/run_records.h"

namespace heed {

// Is there a frame at this step, after one of step `last`? At 0, 1, 2, 4, 8, ..., and at the first
// validation in each quarter of the way from one of these to the next.
bool is_frame(int64_t step, bool validated, int64_t last);

struct FilmedFrame {
  Frame frame;
  string sample;  // what the model writes, as text, for the log
};

class Film {
 public:
  // References must outlive the film. `prompt`: a given one; else one is chosen.
  Film(const RunConfig& config, const Transformer& model, const Tokenizers& tokenizers,
       const Dataset& data, const TokenIds& prompt = {});

  // The weights that the run began with: from now on frames name heads.
  void began_with(const ParamVec<float>& initial);
  bool empty() const { return question_.read.tokens() == 0; }  // no example to show: no film
  Probe probe() const;
  string prompt() const;  // what samples begin with, as text, for the log
  // `known`: its step, losses and matrices. `predictor`: the model, with the values that validation
  // and samples use. Error (diverged) if the model's numbers are not finite.
  FilmedFrame frame(Frame known, const Predictor& predictor) const;
  // A frame's sample, alone.
  string sample(const Predictor& predictor) const {
    return as_sample(written(predictor, shown_prompt()));
  }

 private:
  string shown(const TokenIds& ids, const Tokenizer& tokenizer, const char* between) const;
  string shown_answer(const TokenIds& ids) const;
  void add_maps(const ParamVec<float>& values, const AttentionMaps& maps, Frame& frame) const;
  size_t shown_prompt() const { return question_.prompts.size() > 1; }  // of four pairs the second
  TokenIds written(const Predictor& predictor, size_t prompt) const;
  string completed(const TokenIds& ids, const char* open, const char* close) const;
  string as_sample(const TokenIds& ids) const;

  const Transformer& model_;
  const Tokenizers& tokenizers_;
  const int written_;
  const bool with_maps_;
  unique_ptr<const Objective> objective_;
  Question question_;
  const Split& split_;
  optional<HeadProbe> heads_;
};

// What the samples of a training, its film and the text at its end begin with (show/prompt.cpp): a
// place in the held-out part at which a reader sees what is learnt, because what follows is like
// the training text. The candidates are beginnings of lines or sentences, at most 60, spread over
// it. The one is chosen whose next 100 tokens differ least:
//
//   difference = sum over their distinct ids of q ln(q / p)
//
// q is the id's share of these tokens, p its share of the training text (one more than its count
// there). This is the unigram loss of what follows, less the entropy of its tokens (Kullback and
// Leibler 1951): capitals, digits and signs cost as much as they are rare in the training text, and
// a line of ~~~~ or of blanks costs more than words do.
//
// The prompt is as many tokens as the encoder reads, or three quarters of those `shown`; fewer,
// down to a half, so that a word ends with it. It begins at 0 without a candidate, or if nothing is
// held out. (Lines of pairs are alike: their objective takes the first that can be shown.)
Tile chosen_prompt(const Dataset& data, const Tokenizer& target, const Objective& objective,
                   int shown);

// train.prompt as ids. Error (data or usage) if the model cannot read it, or has nothing to fill in
// there.
TokenIds given_prompt(const RunConfig& config, const Tokenizers& tokenizers,
                      const Objective& objective);

// The bytes that filming keeps: two copies of the recorded matrices or, at the end, the weights of
// the best checkpoint; and a frame's gradient (the pull).
double film_memory(const ParamTable& table);

}  // namespace heed
