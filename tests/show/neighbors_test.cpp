#include "show/neighbors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error_of.h"
#include "nn/models.h"
#include "show/model_in_memory.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

Model encoder_decoder(Type type) {
  Model t = model_in_memory(
      R"({"data": {"train": "x"}, "model": {"d_model": 8, "n_heads": 2, "d_ff": 8,
      "encoder_layers": 2, "decoder_layers": 1}})",
      train(type, "the king saw the queen and a man saw a woman\n"));
  t.values = test::lively_values<float>(t.net, 5);
  return t;
}

std::vector<double> row(const EmbeddingView& e, int id) {
  return {e.table.row(id), e.table.row(id) + e.table.cols};
}

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double dot = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    dot += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  return dot / std::sqrt(aa) / std::sqrt(bb);
}

TEST(Neighbors, AreTheRowsWithTheLargestCosine) {
  const Model t = encoder_decoder(Type::word);
  const EmbeddingView e = embedding_of(t, Side::target);
  const int king = e.tokenizer.encode("king").front();
  std::vector<std::pair<double, int>> twin;
  for (int id = 3; id < e.table.rows; ++id)
    if (id != king) twin.emplace_back(cosine(row(e, id), row(e, king)), id);
  std::sort(twin.rbegin(), twin.rend());
  const auto found = neighbors(e, parse_queries("king")[0], 4)["neighbors"];
  ASSERT_EQ(found.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(found[i]["id"], twin[i].second);
    EXPECT_NEAR(found[i]["cosine"], twin[i].first, 1e-12);
    EXPECT_EQ(found[i]["token"], e.tokenizer.piece(twin[i].second));
  }
}

TEST(Neighbors, AnalogiesAddVectorsOfLengthOne) {
  const Model t = encoder_decoder(Type::word);
  const EmbeddingView e = embedding_of(t, Side::target);
  const auto queries = parse_queries("king - man + woman");
  ASSERT_EQ(queries.size(), 1u);
  EXPECT_EQ(queries[0].text, "king - man + woman");
  EXPECT_EQ(queries[0].terms.size(), 3u);
  std::vector<double> sum(8, 0.0);
  for (const auto& [sign, word] : {std::pair{1.0, "king"}, {-1.0, "man"}, {1.0, "woman"}}) {
    const auto v = row(e, e.tokenizer.encode(word).front());
    for (int c = 0; c < 8; ++c)
      sum[c] += sign * v[c] / std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
  }
  double best = -2;
  for (int id = 3; id < e.table.rows; ++id) {
    const std::string piece = e.tokenizer.piece(id);
    if (piece != "king" && piece != "man" && piece != "woman")
      best = std::max(best, cosine(row(e, id), sum));
  }
  EXPECT_NEAR(neighbors(e, queries[0], 1)["neighbors"][0]["cosine"], best, 1e-12);
}

TEST(Neighbors, SeveralTokensAreAveraged) {
  const Model t = encoder_decoder(Type::char_);
  const EmbeddingView e = embedding_of(t, Side::target);
  const WordVector w = word_vector(e, "he");
  ASSERT_EQ(w.ids.size(), 2u);
  const auto h = row(e, w.ids[0]), letter_e = row(e, w.ids[1]);
  for (int c = 0; c < 8; ++c) EXPECT_NEAR(w.vector[c], (h[c] + letter_e[c]) / 2, 1e-7);
}

TEST(Neighbors, OwnTokensOfAWordAreNotAmongThem) {
  const Model t = encoder_decoder(Type::char_);
  const EmbeddingView e = embedding_of(t, Side::target);
  const auto result = neighbors(e, parse_queries("king")[0], 1000);
  EXPECT_EQ(result["neighbors"].size(), static_cast<std::size_t>(e.table.rows - 3 - 4));
  for (const auto& n : result["neighbors"])
    EXPECT_EQ(std::ranges::count(result["words"][0]["ids"], n["id"]), 0) << n["token"];
}

TEST(Neighbors, TokensThatTrainingNeverSawHaveNone) {
  const Model t = encoder_decoder(Type::word);
  EmbeddingView e = embedding_of(t, Side::target);
  e.counts.assign(static_cast<std::size_t>(e.table.rows), 1);
  const int queen = e.tokenizer.encode("queen").front();
  e.counts[static_cast<std::size_t>(queen)] = 0;
  const auto found = neighbors(e, parse_queries("king")[0], 1000)["neighbors"];
  EXPECT_EQ(found.size(), static_cast<std::size_t>(e.table.rows - 3 - 2));
  for (const auto& n : found) EXPECT_NE(n["token"], "queen");
  expect_error([&] { word_vector(e, "queen"); }, Exit::data, {"queen"});
  e.run = "my run";
  EXPECT_EQ(other_case(e, "King"), "king is a token: heed neighbors 'my run' king");
  EXPECT_EQ(other_case(e, "Queen") + other_case(e, "king"), "");
  expect_error([&] { word_vector(e, "King"); }, Exit::data, {"heed neighbors 'my run' king"});
}

TEST(Neighbors, UnknownTokensAreNamed) {
  const Model t = encoder_decoder(Type::char_);
  const EmbeddingView e = embedding_of(t, Side::target);
  for (const std::string word : {"@", "k@ing"})
    expect_error([&] { word_vector(e, word); }, Exit::data, {word, "1", "'@'"});
}

TEST(Neighbors, MistakesAreTold) {
  const Model t = encoder_decoder(Type::word);
  const EmbeddingView e = embedding_of(t, Side::target);
  expect_error([&] { word_vector(e, "qeen"); }, Exit::data, {"queen"});
  expect_error([&] { word_vector(e, ""); }, Exit::data, {"\"\""});
  for (const char* text : {"king -", "king man + woman", "+ king"})
    expect_error([&] { parse_queries(text); }, Exit::usage, {});
}

}  // namespace
}  // namespace heed
