// Nearest neighbours of words: cosines between rows of the embedding.
//
// The vector of a word is its row, or the mean of the rows of those of its tokens that are known.
// With bpe and unigram a word is looked up with the space before it, as in running text, unless
// only the word without it is a token. A word without any known token is an Error (Exit::data) that
// suggests similar words.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "store/model.h"

namespace heed {

// An embedding table and the tokenizer whose ids number its rows. A view on a Model. The
// rows of ids that training never saw have drifted to one place and mean nothing: they are no
// neighbours, and have none.
struct EmbeddingView {
  Mat<const float> table;  // [vocab, d]
  const Tokenizer& tokenizer;
  ReadOptions reading;                    // how its text was read
  std::string run;                        // for hints
  std::vector<std::int64_t> counts = {};  // how often training saw each id; empty: not known
  bool occurs(int id) const { return counts.empty() || counts[static_cast<std::size_t>(id)] > 0; }
};
EmbeddingView embedding_of(const Model& model, Side side);

struct WordVector {
  std::string word;
  std::vector<int> ids;
  std::vector<double> vector;  // [d]
};
// Error (data) if training never saw one of its tokens.
WordVector word_vector(const EmbeddingView& embedding, const std::string& word);

// "fox is a token: heed neighbors RUN fox" for Fox, which is not one; "" if case is not the
// difference.
std::string other_case(const EmbeddingView& embedding, const std::string& word);

struct Term {
  double sign;  // +1, -1
  std::string word;
};
struct Query {
  std::string text;         // "king - man + woman"
  std::vector<Term> terms;  // one word, or several: an analogy
};
// Separate words are separate queries; a lone "+" or "-" makes one analogy of them all. Error
// (Exit::usage) if words and signs do not alternate.
std::vector<Query> parse_queries(const std::string& text);

// The k rows with the largest cosine to the query, best first, without special ids and without the
// query's own tokens. Analogies add and subtract vectors of length 1 (Mikolov et al. 2013).
// {"query", "words": [{"word", "ids", "tokens"}], "neighbors": [{"token", "id", "cosine"}]}
nlohmann::ordered_json neighbors(const EmbeddingView& embedding, const Query& query, std::size_t k);

}  // namespace heed
