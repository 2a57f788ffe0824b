#include "show/neighbors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "text/utf8.h"

namespace heed {
namespace {

double norm(const vector<double>& v) {
  return sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

using Row = vector<double>;

// Each of them known to training.
vector<int> known_ids(const EmbeddingView& e, const string& word) {
  const string shown = fmt::format("\"{}\"", excerpt(word));
  vector<int> ids = e.tokenizer.encode(word);
  if (is_subword(e.tokenizer.type())) {
    const vector<int> inside = e.tokenizer.encode(" " + word);
    if (inside.size() == 1 || ids.size() != 1) ids = inside;
  }
  if (ids.empty()) throw data_error("{} has no tokens.", shown);
  if (ranges::count(ids, Tokenizer::kUnk) > 0)
    throw data_error("{} has {}.", shown, e.tokenizer.unknown(word).summary());
  for (const int id : ids)
    if (!e.occurs(id))
      throw data_error(
          "{} is {}, and {} never occurs in the training text: nothing was learnt "
          "of it.",
          shown, joined(e.tokenizer.pieces(ids), " "), e.tokenizer.piece(id));
  return ids;
}

struct Query {
  string text;                         // "king - man + woman"
  vector<pair<double, string>> words;  // with their signs
};

vector<Query> queries_of(const string& text) {
  const auto is_sign = [](string_view s) { return s == "+" || s == "-"; };
  const vector<string_view> parts = split_words(text);
  const vector<string> words(parts.begin(), parts.end());
  if (words.size() < 2 || ranges::none_of(words, is_sign))
    return mapped(words, [](const string& word) { return Query{word, {{1, word}}}; });
  Query analogy{joined(words, " "), {}};
  bool alternate = words.size() % 2 == 1;
  for (size_t i = 0; i < words.size(); ++i) {
    alternate &= is_sign(words[i]) == (i % 2 == 1);
    if (i % 2 == 0) analogy.words.emplace_back(i > 0 && words[i - 1] == "-" ? -1 : 1, words[i]);
  }
  if (!alternate)
    throw usage_error("an analogy is words with + or - between them; found \"{}\".", excerpt(text))
        .hint("heed neighbors RUN king - man + woman");
  return {analogy};
}

Json neighbors_of(const EmbeddingView& e, const Query& query, size_t k) {
  Json json{{"query", query.text}, {"words", Json::array()}, {"neighbors", Json::array()}};
  const auto width = size_t(e.table.cols);
  Row sum(width);
  vector<int> own;
  for (const auto& [sign, word] : query.words) {
    const vector<int> ids = known_ids(e, word);
    Row mean(width);
    for (const int id : ids)
      for (size_t c = 0; c < width; ++c) mean[c] += double(e.table.row(id)[c]) / double(ids.size());
    const double length = norm(mean);
    for (size_t c = 0; c < width; ++c) sum[c] += length > 0 ? sign * mean[c] / length : 0.0;
    own.insert(own.end(), ids.begin(), ids.end());
    json["words"].push_back({{"word", word}, {"ids", ids}, {"tokens", e.tokenizer.pieces(ids)}});
  }
  const double norm_of_sum = norm(sum);
  if (norm_of_sum < 1e-9)
    throw data_error("\"{}\": the words cancel out.", excerpt(query.text)).hint("other words");
  vector<pair<double, int>> rows;  // cosine, minus the id
  for (int id = e.tokenizer.first_ordinary_id(); id < e.table.rows; ++id) {
    if (!e.occurs(id) || ranges::count(own, id) > 0) continue;
    const Row row(e.table.row(id), e.table.row(id) + e.table.cols);
    const double lengths = norm(row) * norm_of_sum;
    const double dot = std::inner_product(row.begin(), row.end(), sum.begin(), 0.0);
    rows.emplace_back(lengths > 0 ? dot / lengths : 0.0, -id);
  }
  ranges::sort(rows, greater());
  rows.resize(min(k, rows.size()));
  for (const auto& [cosine, id] : rows)
    json["neighbors"].push_back(
        {{"token", e.tokenizer.piece(-id)}, {"id", -id}, {"cosine", cosine}});
  return json;
}

}  // namespace

EmbeddingView embedding_of(const Model& t, Side side) {
  const Embeddings& e = t.net.embeddings;
  const bool source = e.source && (side == Side::source || !e.target);
  return {t.values[(source ? e.source : e.target)->tokens],
          source ? t.tokenizers.source() : *t.tokenizers.target};
}

Json neighbors(const EmbeddingView& e, const string& text, size_t k) {
  return mapped(queries_of(text), [&](const Query& query) { return neighbors_of(e, query, k); });
}

}  // namespace heed
