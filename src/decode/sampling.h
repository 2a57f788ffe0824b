// Drawing texts from a model, many at a time, for every family with a decoder.
//
//   encoder-decoder, text  the source is the last `source_length` tokens, or <s>
//                          alone; the decoder starts at <s>. After `target_length`
//                          tokens both start anew.
//   decoder alone, text    the decoder reads <s> and the prompt. When it holds
//                          `target_length` tokens it starts anew with the last
//                          half of them.
//   to_end                 the prompt is a whole source; the decoder writes until
//                          </s>.
//
// A token is drawn as a pure function of the seed, the number of the sample, its place in the
// sample, and what came before: sample i is the same whatever is drawn beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "decode/logits_rules.h"
#include "nn/transformer.h"

namespace heed {

struct SampleRequest {
  std::vector<int> prompt;
  bool to_end = false;
  int source_length = 0, target_length = 0;  // what the model was trained on; to_end: unused
  int max_tokens = 200;
  int num_samples = 1;
  std::uint64_t seed = 1;
  LogitsRules rules;
  std::vector<int> banned;  // ids that are never drawn
};

// Shown every token of every sample, a sample's in order; false ends the sample. Called by the
// calling thread.
using SampleSink = std::function<bool(int sample, int id)>;
// Called when a sample is complete.
using SampleDone = std::function<void(int sample)>;

void draw_samples(const Transformer& model, const ParamVec<float>& values, Pool& pool,
                  const SampleRequest& request, const SampleSink& sink, const SampleDone& done);

}  // namespace heed
