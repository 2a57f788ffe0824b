#include "show/neighbors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/format.h"
#include "base/nearest.h"
#include "data/corpus.h"
#include "text/utf8.h"

namespace heed {
namespace {

double norm(const std::vector<double>& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

// A token as a word; "" if it is a single byte or training never saw it.
std::string known_word(const EmbeddingView& e, int id) {
  std::string text = e.tokenizer.text_after(-1, id);
  if (text.starts_with(' ')) text.erase(0, 1);
  return text.size() > 1 && e.occurs(id) ? text : "";
}

std::vector<std::string> known_words(const EmbeddingView& e) {
  std::vector<std::string> words;
  for (int id = e.tokenizer.first_ordinary_id(); id < e.tokenizer.size(); ++id)
    if (std::string word = known_word(e, id); !word.empty()) words.push_back(std::move(word));
  return words;
}

std::vector<int> ids_of(const Tokenizer& tokenizer, const std::string& word) {
  if (!is_subword(tokenizer.type())) return tokenizer.encode(word);
  std::vector<int> inside = tokenizer.encode(" " + word), alone = tokenizer.encode(word);
  return inside.size() > 1 && alone.size() == 1 ? alone : inside;
}

}  // namespace

EmbeddingView embedding_of(const Model& t, Side side) {
  const Embeddings& e = t.net.embeddings;
  const bool source = e.source && (side == Side::source || !e.target);
  return {t.values[(source ? e.source : e.target)->tokens],
          source ? t.tokenizers.source() : *t.tokenizers.target, read_options(t.config), t.run};
}

std::string other_case(const EmbeddingView& e, const std::string& word) {
  const std::string lower = to_lower(word);
  std::pair<std::int64_t, std::string> best{-1, ""};
  for (int id = e.tokenizer.first_ordinary_id(); id < e.tokenizer.size(); ++id) {
    const std::string text = known_word(e, id);
    if (text.empty() || text == word || to_lower(text) != lower) continue;
    best = std::max(best, {e.counts.empty() ? 0 : e.counts[static_cast<std::size_t>(id)], text});
  }
  if (best.first < 0) return "";
  const std::string is = best.second + " is a token";  // typed at a prompt: alone
  return e.run.empty()
             ? is
             : fmt::format("{}: heed neighbors {} {}", is, shell_word(e.run), best.second);
}

WordVector word_vector(const EmbeddingView& e, const std::string& given) {
  const std::string shown = fmt::format("\"{}\"", excerpt(given));
  if (e.tokenizer.type() != TokenizerConfig::byte) check_utf8(given, shown);
  WordVector w{as_read(given, e.reading), {}, {}};
  w.ids = ids_of(e.tokenizer, w.word);
  if (w.ids.empty()) throw Error(Exit::data, shown + " has no tokens.");
  if (std::ranges::count(w.ids, Tokenizer::kUnk) > 0) {
    const std::string other = other_case(e, w.word);
    const std::string similar = other.empty() ? nearest(w.word, known_words(e)) : other;
    const bool analogy = given.find_first_of("+-", 1) != std::string::npos;
    throw Error(Exit::data, fmt::format("{} has {}.", shown, e.tokenizer.unknown(w.word).summary()),
                analogy           ? "spaces around + and - for an analogy: king - man + woman"
                : similar.empty() ? "a word of the training text"
                                  : similar);
  }
  if (const auto unseen = std::ranges::find_if_not(w.ids, [&](int id) { return e.occurs(id); });
      unseen != w.ids.end())
    throw Error(
        Exit::data,
        fmt::format("{} is {}, and {} never occurs in the training text: nothing was learnt "
                    "of it.",
                    shown, joined(e.tokenizer.pieces(w.ids), " "), e.tokenizer.piece(*unseen)),
        other_case(e, w.word));
  w.vector.resize(static_cast<std::size_t>(e.table.cols));
  for (const int id : w.ids)
    for (int c = 0; c < e.table.cols; ++c)
      w.vector[c] += static_cast<double>(e.table(id, c)) / static_cast<double>(w.ids.size());
  return w;
}

std::vector<Query> parse_queries(const std::string& text) {
  const auto is_operator = [](std::string_view s) { return s == "+" || s == "-"; };
  const auto parts = split_words(text);
  const std::vector<std::string> words(parts.begin(), parts.end());
  std::vector<Query> queries;
  if (words.size() < 2 || std::none_of(words.begin(), words.end(), is_operator)) {
    for (const std::string& word : words) queries.push_back({word, {{1.0, word}}});
    return queries;
  }
  Query analogy;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool wanted_operator = i % 2 == 1;
    if (is_operator(words[i]) != wanted_operator || (wanted_operator && i + 1 == words.size()))
      throw Error(Exit::usage,
                  fmt::format("an analogy is words with + or - between them; found \"{}\" {}",
                              excerpt(words[i]),
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

nlohmann::ordered_json neighbors(const EmbeddingView& e, const Query& query, std::size_t k) {
  nlohmann::ordered_json json{{"query", query.text},
                              {"words", nlohmann::json::array()},
                              {"neighbors", nlohmann::json::array()}};
  std::vector<double> sum(static_cast<std::size_t>(e.table.cols));
  std::vector<int> asked;
  for (const Term& term : query.terms) {
    const WordVector w = word_vector(e, term.word);
    const double length = norm(w.vector);
    for (std::size_t c = 0; c < sum.size(); ++c)
      sum[c] += length > 0 ? term.sign * w.vector[c] / length : 0.0;
    asked.insert(asked.end(), w.ids.begin(), w.ids.end());
    json["words"].push_back(
        {{"word", w.word}, {"ids", w.ids}, {"tokens", e.tokenizer.pieces(w.ids)}});
  }
  const double norm_of_sum = norm(sum);
  if (norm_of_sum < 1e-9)
    throw Error(Exit::data, fmt::format("\"{}\": the words cancel out.", excerpt(query.text)),
                "other words");
  std::vector<std::pair<double, int>> rows;  // cosine, minus the id
  for (int id = e.tokenizer.first_ordinary_id(); id < e.table.rows; ++id) {
    if (!e.occurs(id) || std::ranges::count(asked, id) > 0) continue;
    const std::vector<double> row(e.table.row(id), e.table.row(id) + e.table.cols);
    const double lengths = norm(row) * norm_of_sum;
    const double dot = std::inner_product(row.begin(), row.end(), sum.begin(), 0.0);
    rows.emplace_back(lengths > 0 ? dot / lengths : 0.0, -id);
  }
  k = std::min(k, rows.size());
  std::ranges::partial_sort(rows, rows.begin() + static_cast<std::ptrdiff_t>(k), std::greater());
  for (std::size_t i = 0; i < k; ++i)
    json["neighbors"].push_back({{"token", e.tokenizer.piece(-rows[i].second)},
                                 {"id", -rows[i].second},
                                 {"cosine", rows[i].first}});
  return json;
}

}  // namespace heed
