// Draws texts from a model with a decoder, many at a time.
//
// The objective says what the stacks read to continue a text, how many tokens the decoder holds
// before it restarts, and whether a text ends with </s> (data/objective.h).
//
// The draw of a token is a pure function of the seed, the number of the sample, the position and
// the tokens before it. So sample i does not depend on the other samples.
#pragma once

#include <cstdint>
#include <functional>

#include "data/objective.h"
#include "decode/best_tokens.h"
#include "decode/predictor.h"
#include "decode/sampling_rules.h"

namespace heed {

struct SampleRequest {
  TokenIds prompt;
  int max_tokens = 200;
  int num_samples = 1;
  std::uint64_t seed = 1;
  SamplingRules rules;
  WritingRules writing = {};  // a text that continues its prompt is one with it
  TokenIds banned;            // ids that are never drawn: the objective's never_written()
  int n_best = -1;  // look at this many of the most probable ids for each token; -1: do not look
};

// Receives every token, each sample's tokens in order; false ends the sample. Runs on the calling
// thread, like SampleDone. Unless request.n_best is -1, the token has what the model gives before
// any rule; else it is an id alone.
using SampleSink = std::function<bool(int sample, const TokenOdds& token)>;
// Called when a sample is complete.
using SampleDone = std::function<void(int sample)>;

void draw_samples(const Predictor& predictor, const Objective& objective, Pool& pool,
                  const SampleRequest& request, const SampleSink& sink, const SampleDone& done);

}  // namespace heed
