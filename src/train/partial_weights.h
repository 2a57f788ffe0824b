// heed train --init-from RUN --partial: of the weights of another model, those that fit a new one.
#pragma once

#include <string>

#include "store/trained_model.h"

namespace heed {

struct PartialWeights {
  ParamVec<float> values;
  std::string taken, anew;  // what is from where, for the log; anew: tensors, or ""
};

// A tensor of the same name and shape is taken whole; of a table of tokens, the rows of those that
// both vocabularies have. The rest is as `seed` initialises it. Error (usage) if nothing fits.
PartialWeights partial_weights(const TrainedModel& from, const Transformer& to,
                               const Tokenizers& tokenizers, std::uint64_t seed);

}  // namespace heed
