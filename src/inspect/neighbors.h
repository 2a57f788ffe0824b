// Nearest neighbours of words: cosines between rows of the embedding.
//
// The vector of a word is its row, or the mean of the rows of those of its tokens that are known.
// With bpe and unigram a word is looked up with the space before it, as in running text, unless
// only the word without it is a token. A word without any known token is an Error (Exit::data) that
// suggests similar words.
#pragma once

#include <string>
#include <vector>

#include "data/data_files.h"
#include "store/trained_model.h"

namespace heed {

enum class Side { source, target };  // the same if there is one table

// An embedding table and the tokenizer whose ids number its rows. A view on a TrainedModel.
struct EmbeddingView {
  Mat<const float> table;  // [vocab, d]
  const Tokenizer& tokenizer;
  ReadOptions reading;  // how its text was read
};
EmbeddingView embedding_of(const TrainedModel& model, Side side);

// The mean of some rows of a matrix, [cols].
std::vector<double> mean_row(Mat<const float> matrix, const std::vector<int>& rows);

struct WordVector {
  std::string word;
  std::vector<int> ids;
  std::vector<double> vector;  // [d]
};
WordVector word_vector(const EmbeddingView& embedding, const std::string& word);

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
std::vector<Query> parse_queries(const std::vector<std::string>& words);

struct Neighbor {
  int id;
  std::string token;
  double cosine;
};
// The k rows with the largest cosine to the vector, except special ids and `without`.
std::vector<Neighbor> nearest_rows(const EmbeddingView& embedding,
                                   const std::vector<double>& vector, std::size_t k,
                                   const std::vector<int>& without);

struct QueryResult {
  Query query;
  std::vector<WordVector> words;  // of the terms
  std::vector<Neighbor> neighbors;
};
// Analogies add and subtract vectors of length 1 (Mikolov et al. 2013). The tokens of the query are
// not among the results.
QueryResult ask(const EmbeddingView& embedding, const Query& query, std::size_t k);

// The rows as word2vec text: "rows columns", then a line "token x1 x2 ..." per row. Spaces in
// tokens become U+2581. Special ids are left out.
std::string word2vec_text(const EmbeddingView& embedding);

}  // namespace heed
