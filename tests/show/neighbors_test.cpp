#include "show/neighbors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

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

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double dot = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    dot += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  return dot / std::sqrt(aa) / std::sqrt(bb);
}

class Neighbors : public testing::Test {
 protected:
  explicit Neighbors(Type type) : t_(encoder_decoder(type)) {}

  const Model t_;
  EmbeddingView e_ = embedding_of(t_, Side::target);

  std::vector<double> row(int id) const {
    return {e_.table.row(id), e_.table.row(id) + e_.table.cols};
  }
  int id(const std::string& word) const { return e_.tokenizer.encode(word).front(); }
};
struct NeighborsOfWords : Neighbors {
  NeighborsOfWords() : Neighbors(Type::word) {}
};
struct NeighborsOfPieces : Neighbors {
  NeighborsOfPieces() : Neighbors(Type::char_) {}
};

TEST_F(NeighborsOfWords, AreTheRowsWithTheLargestCosine) {
  const int king = id("king");
  std::vector<std::pair<double, int>> twin;
  for (int id = 3; id < e_.table.rows; ++id)
    if (id != king) twin.emplace_back(cosine(row(id), row(king)), id);
  std::sort(twin.rbegin(), twin.rend());
  const Json all = neighbors(e_, "king man", 4);
  ASSERT_EQ(all.size(), 2u);
  const Json& found = all[0]["neighbors"];
  ASSERT_EQ(found.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(found[i]["id"], twin[i].second);
    EXPECT_NEAR(found[i]["cosine"], twin[i].first, 1e-12);
    EXPECT_EQ(found[i]["token"], e_.tokenizer.piece(twin[i].second));
  }
}

TEST_F(NeighborsOfWords, AnalogiesAddVectorsOfLengthOne) {
  std::vector<double> sum(8, 0.0);
  for (const auto& [sign, word] : {std::pair{1.0, "king"}, {-1.0, "man"}, {1.0, "woman"}}) {
    const auto v = row(id(word));
    for (int c = 0; c < 8; ++c)
      sum[c] += sign * v[c] / std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
  }
  double best = -2;
  for (int id = 3; id < e_.table.rows; ++id) {
    const std::string piece = e_.tokenizer.piece(id);
    if (piece != "king" && piece != "man" && piece != "woman")
      best = std::max(best, cosine(row(id), sum));
  }
  const Json all = neighbors(e_, "king - man + woman", 1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["query"], "king - man + woman");
  EXPECT_NEAR(all[0]["neighbors"][0]["cosine"], best, 1e-12);
}

TEST_F(NeighborsOfPieces, AreThoseOfTheMeanAndNoneOfThem) {
  const auto h = row(id("h")), letter_e = row(id("e"));
  std::vector<double> sum(8);
  for (int c = 0; c < 8; ++c) sum[c] = h[c] + letter_e[c];
  const Json found = neighbors(e_, "he", 1000)[0];
  EXPECT_EQ(found["neighbors"].size(), static_cast<std::size_t>(e_.table.rows - 3 - 2));
  for (const auto& n : found["neighbors"]) {
    EXPECT_EQ(std::ranges::count(found["words"][0]["ids"], n["id"]), 0) << n["token"];
    EXPECT_NEAR(n["cosine"], cosine(row(n["id"]), sum), 1e-6);
  }
}

}  // namespace
}  // namespace heed
