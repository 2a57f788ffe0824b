// What a model with a decoder writes by itself.
#pragma once

#include <vector>

#include "store/trained_model.h"

namespace heed {

// Continues `prompt` (what the encoder reads, or the beginning of a decoder's text) by at most
// `max_tokens` tokens, without </s>. Temperature 0: always the most probable token; else seeded.
std::vector<int> own_output(const TrainedModel& model, std::vector<int> prompt, int max_tokens,
                            double temperature = 0);

}  // namespace heed
