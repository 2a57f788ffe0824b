// Drawing texts from a model with a decoder, many at a time.
//
// The objective says what the stacks read to continue a text, how many tokens the decoder holds
// before it starts anew, and whether a text ends with </s> (data/objective.h).
//
// A token is drawn as a pure function of the seed, the number of the sample, its place in the
// sample, and what came before: sample i is the same whatever is drawn beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/objective.h"
#include "decode/sampling_rules.h"
#include "nn/transformer.h"

namespace heed {

struct SampleRequest {
  TokenIds prompt;
  int max_tokens = 200;
  int num_samples = 1;
  std::uint64_t seed = 1;
  LogitsRules rules;
  TokenIds banned;  // ids that are never drawn: the objective's never_written()
};

// Shown every token of every sample, a sample's in order; false ends the sample. Called by the
// calling thread.
using SampleSink = std::function<bool(int sample, int id)>;
// Called when a sample is complete.
using SampleDone = std::function<void(int sample)>;

void draw_samples(const Transformer& model, const ParamVec<float>& values,
                  const Objective& objective, Pool& pool, const SampleRequest& request,
                  const SampleSink& sink, const SampleDone& done);

}  // namespace heed
