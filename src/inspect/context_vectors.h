// The vector of a word in a text, after each layer of the stack that reads it, beside the rows of
// the embedding (inspect/neighbors.h).
#pragma once

#include <string>
#include <vector>

#include "inspect/neighbors.h"

namespace heed {

// One occurrence of the word: its vector after each layer (mean over its tokens), layer by layer.
// With pre-norm the last one is taken after the final norm.
struct ContextLayer {
  std::vector<double> vector;
  double cosine_to_static;
  std::vector<Neighbor> neighbors;
};
struct Occurrence {
  std::size_t begin, end;  // bytes in the text
  std::vector<ContextLayer> layers;
};
struct ContextResult {
  WordVector word;
  std::vector<Occurrence> occurrences;
};

// Reads `context` with the encoder, or with the decoder if there is no encoder. Error (Exit::data)
// if the word does not occur in it.
ContextResult ask_in_context(const TrainedModel& model, const std::string& word,
                             const std::string& context, std::size_t k);

}  // namespace heed
