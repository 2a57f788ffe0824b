// Nearest neighbours of words: cosines between rows of the embedding.
//
// The vector of a word is its row, or the mean of the rows of its tokens. With bpe and unigram a
// word is looked up with the space before it, as in running text, unless only the word without it
// is a token.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/std_names.h"
#include "data/split.h"
#include "store/model.h"

namespace heed {

// An embedding table and the tokenizer whose ids number its rows. A view on a Model. The
// rows of ids that training never saw have drifted to one place and mean nothing: they are no
// neighbours, and have none.
struct EmbeddingView {
  Mat<const float> table;  // [vocab, d]
  const Tokenizer& tokenizer;
  vector<int64_t> counts = {};  // how often training saw each id; empty: not known
  bool occurs(int id) const { return counts.empty() || counts[size_t(id)] > 0; }
};
EmbeddingView embedding_of(const Model& model, Side side);

// `text` is one as the model reads it. Separate words are separate queries; a lone "+" or "-" makes
// one analogy of them all, which adds and subtracts vectors of length 1 (Mikolov et al. 2013). For
// each the k rows with the largest cosine, best first, without special ids and without the query's
// own tokens:
//
//   [{"query", "words": [{"word", "ids", "tokens"}], "neighbors": [{"token", "id", "cosine"}]}]
//
// Error (usage) if words and signs do not alternate; Error (data) if one has a token that is not
// known or that training never saw.
Json neighbors(const EmbeddingView& embedding, const string& text, size_t k);

}  // namespace heed
