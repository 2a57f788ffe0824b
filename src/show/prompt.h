// What the samples of a training, its film and the text at its end begin with: one prompt.
#pragma once

#include "base/std_names.h"
#include "data/dataset.h"
#include "data/objective.h"

namespace heed {

// A place in the held-out part at which a reader sees what is learnt, because what follows is like
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

}  // namespace heed
