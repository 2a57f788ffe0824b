// What stands near what: cosines between rows of the embedding, and between a token's vector inside
// the model and those rows.
//
// The vector of a word is its row, or the mean of the rows of its tokens. With bpe and unigram a
// word is looked up as it stands in running text, with the space before it, unless only the word
// without it is a token. Errors are Exit::data: an unknown word, with similar ones if there are
// any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/trained_model.h"

namespace heed {

enum class Side { source, target };  // one and the same where there is one table

// An embedding table and the tokenizer whose ids are its rows. Views on a TrainedModel.
struct EmbeddingView {
  Mat<const float> table;  // [vocab, d]
  const Tokenizer& tokenizer;
  bool lowercase;
};
EmbeddingView embedding_of(const TrainedModel& model, Side side);

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
// (Exit::usage) if they do not alternate.
std::vector<Query> parse_queries(const std::vector<std::string>& words);

struct Neighbor {
  int id;
  std::string token;
  double cosine;
};
// The k rows with the largest cosine to the vector; special ids and `without` are passed over.
std::vector<Neighbor> nearest_rows(const EmbeddingView& embedding,
                                   const std::vector<double>& vector, std::size_t k,
                                   const std::vector<int>& without);

struct QueryResult {
  Query query;
  std::vector<WordVector> words;  // of the terms
  std::vector<Neighbor> neighbors;
};
// Analogies add and subtract vectors of length 1 (Mikolov et al. 2013) and pass over the words
// asked for.
QueryResult ask(const EmbeddingView& embedding, const Query& query, std::size_t k);

// One occurrence of a word in a text: its vector after each layer (mean over its tokens), layer by
// layer; with pre-norm the last one is taken after the final norm.
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
// Reads `context` with the encoder, or without one with the decoder. Error (Exit::data) if the word
// is not in it.
ContextResult ask_in_context(const TrainedModel& model, const std::string& word,
                             const std::string& context, std::size_t k);

// The rows as word2vec text: "rows columns", then "token x1 x2 ..." line by line. Spaces within
// tokens become U+2581. Special ids are left out.
std::string word2vec_text(const EmbeddingView& embedding);

}  // namespace heed
