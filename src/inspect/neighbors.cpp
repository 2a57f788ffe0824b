#include "inspect/neighbors.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/format.h"
#include "base/nearest.h"
#include "data/corpus.h"
#include "text/piece_model.h"
#include "text/utf8.h"

namespace heed {
namespace {

double norm(const std::vector<double>& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

std::string similar_words(const Tokenizer& tokenizer, const std::string& word) {
  std::vector<std::pair<int, std::string>> found;
  for (int id = tokenizer.first_ordinary_id(); id < tokenizer.size(); ++id) {
    std::string piece = tokenizer.piece(id);
    const int distance = edit_distance(word, piece);
    if (3 * distance <= static_cast<int>(std::max(word.size(), piece.size())))
      found.emplace_back(distance, std::move(piece));
  }
  std::ranges::stable_sort(found, {}, &std::pair<int, std::string>::first);
  std::vector<std::string> first;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, found.size()); ++i)
    first.push_back(found[i].second);
  return joined(first);
}

std::vector<int> ids_of(const Tokenizer& tokenizer, const std::string& word) {
  if (!is_subword(tokenizer.type())) return tokenizer.encode(word);
  std::vector<int> inside = tokenizer.encode(" " + word), alone = tokenizer.encode(word);
  return inside.size() > 1 && alone.size() == 1 ? alone : inside;
}

}  // namespace

EmbeddingView embedding_of(const TrainedModel& t, Side side) {
  const Embeddings& e = t.model.embeddings;
  const bool source = e.source && (side == Side::source || !e.target);
  return {t.values[(source ? e.source : e.target)->tokens],
          source ? t.tokenizers.source() : *t.tokenizers.target, read_options(t.config)};
}

std::vector<double> mean_row(Mat<const float> matrix, const std::vector<int>& rows) {
  std::vector<double> mean(static_cast<std::size_t>(matrix.cols));
  for (const int row : rows)
    for (int c = 0; c < matrix.cols; ++c)
      mean[c] += static_cast<double>(matrix(row, c)) / static_cast<double>(rows.size());
  return mean;
}

WordVector word_vector(const EmbeddingView& e, const std::string& given) {
  const std::string shown = fmt::format("\"{}\"", printable(given));
  if (e.tokenizer.type() != TokenizerConfig::byte) check_utf8(given, shown);
  WordVector w{as_read(given, e.reading), {}, {}};
  w.ids = ids_of(e.tokenizer, w.word);
  if (w.ids.empty()) throw Error(Exit::data, shown + " has no tokens.");
  std::vector<int> known = w.ids;
  std::erase(known, Tokenizer::kUnk);
  if (known.empty()) {
    const std::string similar = similar_words(e.tokenizer, w.word);
    const bool analogy = given.find_first_of("+-", 1) != std::string::npos;
    throw Error(Exit::data, fmt::format("{} has {}.", shown, e.tokenizer.unknown(w.word).summary()),
                analogy           ? "spaces around + and - for an analogy: king - man + woman"
                : similar.empty() ? "a word of the training text"
                                  : similar);
  }
  w.vector = mean_row(e.table, known);
  return w;
}

std::vector<Query> parse_queries(const std::vector<std::string>& given) {
  const auto is_operator = [](std::string_view s) { return s == "+" || s == "-"; };
  std::vector<std::string> words;
  for (const std::string& argument : given) {  // "king - man + woman" may be one argument
    const std::vector<std::string_view> parts = split_words(argument);
    if (parts.size() > 1 && std::any_of(parts.begin(), parts.end(), is_operator))
      words.insert(words.end(), parts.begin(), parts.end());
    else
      words.push_back(argument);
  }
  std::vector<Query> queries;
  if (words.size() < 2 || std::none_of(words.begin(), words.end(), is_operator)) {
    for (const std::string& word : words) queries.push_back({word, {{1.0, word}}});
    return queries;
  }
  Query analogy;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool wanted_operator = i % 2 == 1;
    if (is_operator(words[i]) != wanted_operator || (wanted_operator && i + 1 == words.size()))
      throw Error(
          Exit::usage,
          fmt::format("an analogy is words with + or - between them; found \"{}\" {}", words[i],
                      wanted_operator ? "where + or - should be, or nothing after it."
                                      : "where a word should be."),
          "heed neighbors RUN king - man + woman");
    analogy.text += (i == 0 ? "" : " ") + words[i];
    if (!wanted_operator)
      analogy.terms.push_back({i > 0 && words[i - 1] == "-" ? -1.0 : 1.0, words[i]});
  }
  queries.push_back(std::move(analogy));
  return queries;
}

std::vector<Neighbor> nearest_rows(const EmbeddingView& e, const std::vector<double>& vector,
                                   std::size_t k, const std::vector<int>& without) {
  std::vector<Neighbor> all;
  const double length = norm(vector);
  for (int id = e.tokenizer.first_ordinary_id(); id < e.table.rows; ++id) {
    if (std::find(without.begin(), without.end(), id) != without.end()) continue;
    double dot = 0, squares = 0;
    for (int c = 0; c < e.table.cols; ++c) {
      const double x = e.table(id, c);
      dot += x * vector[c];
      squares += x * x;
    }
    const double lengths = std::sqrt(squares) * length;
    all.push_back({id, "", lengths > 0 ? dot / lengths : 0.0});
  }
  k = std::min(k, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k), all.end(),
                    [](const Neighbor& a, const Neighbor& b) {
                      return a.cosine != b.cosine ? a.cosine > b.cosine : a.id < b.id;
                    });
  all.resize(k);
  for (Neighbor& n : all) n.token = e.tokenizer.piece(n.id);
  return all;
}

QueryResult ask(const EmbeddingView& e, const Query& query, std::size_t k) {
  QueryResult result{query, {}, {}};
  std::vector<double> sum(static_cast<std::size_t>(e.table.cols), 0.0);
  std::vector<int> asked;
  for (const Term& term : query.terms) {
    WordVector w = word_vector(e, term.word);
    const double length = norm(w.vector);
    for (std::size_t c = 0; c < sum.size(); ++c)
      sum[c] += length > 0 ? term.sign * w.vector[c] / length : 0.0;
    asked.insert(asked.end(), w.ids.begin(), w.ids.end());
    result.words.push_back(std::move(w));
  }
  result.neighbors = nearest_rows(e, sum, k, asked);
  return result;
}

std::string word2vec_text(const EmbeddingView& e) {
  const int first = e.tokenizer.first_ordinary_id();
  std::string text = fmt::format("{} {}\n", e.table.rows - first, e.table.cols);
  for (int id = first; id < e.table.rows; ++id) {
    text += with_space_marks(e.tokenizer.piece(id));
    for (int c = 0; c < e.table.cols; ++c) {
      char digits[32];
      const auto end = std::to_chars(digits, digits + sizeof digits, e.table(id, c)).ptr;
      text += " ";
      text.append(digits, end);
    }
    text += "\n";
  }
  return text;
}

}  // namespace heed
