// Lines to lines with a seq2seq model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "decode/beam.h"

namespace heed {

struct Translation {
  std::string text;
  std::vector<int> ids;  // without </s>
  double log_probability;
  double score;
};

// What a translation may not hold: <unk>, <s>, and whatever would end its line.
std::vector<int> banned_in_targets(const Tokenizer& tokenizer);

// For each line its options.n_best translations, best first, by the score of their text (as `heed
// score` sees it, however the search spelt it), no text twice: of those that the search finished
// with, at most beam_size of them. (A spelling that is too long for learned positions keeps
// the score of the search.) An empty line has none. Words without an id are read as <unk>;
// options.banned is filled in here. Error (data) on a line longer than the
// learned positions; `first_line` is the number of the first one.
std::vector<std::vector<Translation>> translate(const Transformer& model,
                                                const ParamVec<float>& values,
                                                const Tokenizers& tokenizers, Pool& pool,
                                                const std::vector<std::string>& lines,
                                                BeamOptions options, std::size_t first_line = 1);

// Corpus BLEU (tokens as spaces separate them) of the greedy translations of a validation split.
double validation_bleu(const Transformer& model, const ParamVec<float>& values, const Split& split,
                       const Tokenizers& tokenizers, Pool& pool);

// The held-out pairs of a config as text, in the order of Dataset::valid.
struct TextPairs {
  std::vector<std::string> source, target;
};
TextPairs validation_pairs(const RunConfig& config, const std::string& folder);

}  // namespace heed
