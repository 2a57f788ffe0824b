// Draws texts from a model with a decoder, many at a time, and shows them as they arrive. Which
// token may follow, and how it is drawn (temperature, top-k, top-p, min-p): next_token.h.
//
// The objective says what the stacks read to continue a text, how many tokens the decoder holds
// before it restarts, and whether a text ends with </s> (data/objective.h).
//
// The draw of a token is a pure function of the seed, the number of the sample, the position and
// the tokens before it. So sample i does not depend on the other samples.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "data/objective.h"
#include "decode/next_token.h"
#include "decode/predictor.h"

namespace heed {

struct SampleRequest {
  TokenIds prompt;
  int max_tokens = 200;
  int num_samples = 1;
  uint64_t seed = 1;
  SamplingRules rules;
  WritingRules writing = {};  // a text that continues its prompt is one with it
  TokenIds banned;            // ids that are never drawn: the objective's never_written()
  int n_best = -1;  // look at this many of the most probable ids for each token; -1: do not look
};

// Receives every token, each sample's tokens in order; false ends the sample. Runs on the calling
// thread, like SampleDone. Unless request.n_best is -1, the token has what the model gives before
// any rule; else it is an id alone.
using SampleSink = function<bool(int sample, const TokenOdds& token)>;
// Called when a sample is complete.
using SampleDone = function<void(int sample)>;

void draw_samples(const Predictor& predictor, const Objective& objective, Pool& pool,
                  const SampleRequest& request, const SampleSink& sink, const SampleDone& done);

// Turns tokens into text as they arrive: never half a character, never part of a stop string.
class TextStream {
 public:
  // `previous`: the token before the text, or -1. Empty stop strings are ignored. `after_space`:
  // the space of the first word has been shown.
  TextStream(const Tokenizer& tokenizer, int previous, vector<string> stops = {},
             bool after_space = false);

  // Adds a token; returns what can be shown now: valid UTF-8, with invalid bytes as U+FFFD.
  string push(int id);
  // A stop string has appeared: the text ends before it.
  bool stopped() const { return stopped_; }
  // The rest of the text, after the last token.
  string finish();

 private:
  string show_to(size_t end);

  const Tokenizer& tokenizer_;
  int previous_;
  vector<string> stops_;
  string held_;  // not shown yet
  bool stopped_ = false, after_space_;
};

}  // namespace heed
