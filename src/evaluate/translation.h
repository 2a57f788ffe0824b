// Lines to lines with a seq2seq model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decode/beam.h"
#include "store/trained_model.h"

namespace heed {

struct Translation {
  std::string text;
  std::vector<int> ids;  // without </s>
  double log_probability;
  double score;
};

// For each line its options.n_best translations, best first, by the score of their text (as `heed
// score` sees it, however the search spelt it), no text twice: of those that the search finished
// with, at most beam_size of them. (A spelling that is too long for learned positions keeps
// the score of the search.) An empty line has none. Words without an id are read as <unk>;
// options.banned is filled in here. Error (data) on a line longer than the
// learned positions; `first_line` is the number of the first one.
std::vector<std::vector<Translation>> translate(const TrainedModel& model, Pool& pool,
                                                const std::vector<std::string>& lines,
                                                BeamOptions options, std::size_t first_line = 1);

// Corpus BLEU (tokens as spaces separate them) of the greedy translations of a validation split.
double validation_bleu(const Transformer& model, const ParamVec<float>& values,
                       const Objective& objective, const Split& split, const Tokenizer& target,
                       Pool& pool);

}  // namespace heed
