// What a model with a decoder writes by itself.
#pragma once

#include "store/trained_model.h"

namespace heed {

// Continues `prompt` (a source without its frame, or the beginning of a decoder's text) by at most
// `max_tokens` tokens, without </s>. Temperature 0: always the most probable token; else seeded.
TokenIds generate(const TrainedModel& model, TokenIds prompt, int max_tokens,
                  double temperature = 0);

}  // namespace heed
