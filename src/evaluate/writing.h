// What a model writes: a translation, a text that goes on, and what belongs in the place of masks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "data/objective.h"
#include "decode/beam.h"
#include "evaluate/test_text.h"
#include "store/model.h"

namespace heed {

struct Translation : Hypothesis {
  string text;
};

// The most tokens of a translation, unless a user says otherwise: those of the longest target that
// was trained on (State::longest_target), and a quarter of them.
int translation_limit(int64_t longest_target);
// Of a translation that was cut: "did not end within 40 tokens (...)".
string cut_in_words(int max_length, const Model& model);

// For each source (ids without </s>) its options.n_best different translations, best first, chosen
// from the beam_size best of the search. They are scored as `heed score` scores their text, even if
// the search spelt it with other tokens (unless that spelling is too long for learned positions).
// An empty one has no translations. options.banned is set here.
vector<vector<Translation>> translate(const Model& model, Pool& pool,
                                      const vector<TokenIds>& sources, BeamOptions options);

// The counts of the translation of each of the split's pairs, against the written targets.
struct TranslatedPairs {
  System counts;
  vector<string> texts;
  int not_ended = 0;  // translations that were cut
};
TranslatedPairs translate_pairs(const Model& model, const Split& split, const Pairs& written,
                                BeamOptions beam, BleuOptions how, Pool& pool, Log& log);

// At most `max_tokens` tokens that continue `prompt` (a source without special tokens, or the
// beginning of a decoder's text), without </s>. Temperature 0: always the most probable token;
// otherwise drawn with a fixed seed. The first is none of `not_next`.
TokenIds generate(const Predictor& predictor, const Objective& objective, const Tokenizer& target,
                  TokenIds prompt, int max_tokens, double temperature = 0,
                  const TokenIds& not_next = {});

inline constexpr int kSpanBeam = 32;  // hypotheses of the search for a span

// For each mask of a framed source, the n most probable fillings, best first:
// a token or, if the model has a decoder, a span, whose probability includes its end. At most
// kSpanBeam spans. A span has at least one token, and is searched for given the best ones for the
// masks before it.
vector<vector<Hypothesis>> fill(const Predictor& predictor, const Objective& objective,
                                const Tokenizer& target, const TokenIds& source, int n);

}  // namespace heed
