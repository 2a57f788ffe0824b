#include "inspect/neighbors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "base/error_of.h"
#include "inspect/context_vectors.h"
#include "nn/models.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TrainedModel encoder_decoder(Type type, NormPlacement norm = NormPlacement::pre) {
  RunConfig config = parse_config(
      R"({"data": {"train": "x"}, "model": {"d_model": 8, "n_heads": 2, "d_ff": 8,
      "encoder_layers": 2, "decoder_layers": 1}})",
      "test");
  config.tokenizer.type = type;
  config.model.norm = norm;
  Tokenizers tokenizers;
  tokenizers.target = train(type, "the king saw the queen and a man saw a woman\n");
  const int vocab = tokenizers.target->size();
  Transformer model(config.model, vocab, vocab);
  ParamVec<float> values = test::lively_values<float>(model, 5);
  auto objective = make_objective(config);
  return {"",
          std::move(config),
          std::move(objective),
          std::move(tokenizers),
          std::move(model),
          std::move(values),
          {},
          ""};
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
  const TrainedModel t = encoder_decoder(Type::word);
  const EmbeddingView e = embedding_of(t, Side::target);
  const int king = e.tokenizer.encode("king").front();
  std::vector<std::pair<double, int>> twin;
  for (int id = 3; id < e.table.rows; ++id)
    if (id != king) twin.emplace_back(cosine(row(e, id), row(e, king)), id);
  std::sort(twin.rbegin(), twin.rend());
  const QueryResult result = ask(e, parse_queries({"king"})[0], 4);
  ASSERT_EQ(result.neighbors.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(result.neighbors[i].id, twin[i].second);
    EXPECT_NEAR(result.neighbors[i].cosine, twin[i].first, 1e-12);
    EXPECT_EQ(result.neighbors[i].token, e.tokenizer.piece(twin[i].second));
  }
}

TEST(Neighbors, AnalogiesAddVectorsOfLengthOne) {
  const TrainedModel t = encoder_decoder(Type::word);
  const EmbeddingView e = embedding_of(t, Side::target);
  const auto queries = parse_queries({"king", "-", "man", "+", "woman"});
  ASSERT_EQ(queries.size(), 1u);
  EXPECT_EQ(queries[0].text, "king - man + woman");
  EXPECT_EQ(parse_queries({"king - man + woman"})[0].terms.size(), 3u);
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
  EXPECT_NEAR(ask(e, queries[0], 1).neighbors[0].cosine, best, 1e-12);
}

TEST(Neighbors, SeveralTokensAreAveraged) {
  const TrainedModel t = encoder_decoder(Type::char_);
  const EmbeddingView e = embedding_of(t, Side::target);
  const WordVector w = word_vector(e, "he");
  ASSERT_EQ(w.ids.size(), 2u);
  const auto h = row(e, w.ids[0]), letter_e = row(e, w.ids[1]);
  for (int c = 0; c < 8; ++c) EXPECT_NEAR(w.vector[c], (h[c] + letter_e[c]) / 2, 1e-7);
}

TEST(Neighbors, OwnTokensOfAWordAreNotAmongThem) {
  const TrainedModel t = encoder_decoder(Type::char_);
  const EmbeddingView e = embedding_of(t, Side::target);
  const QueryResult result = ask(e, parse_queries({"king"})[0], 1000);
  EXPECT_EQ(result.neighbors.size(), static_cast<std::size_t>(e.table.rows - 3 - 4));
  for (const Neighbor& n : result.neighbors)
    EXPECT_EQ(std::ranges::count(result.words[0].ids, n.id), 0) << n.token;
}

TEST(Neighbors, UnknownTokensOfAWordAreLeftOut) {
  const TrainedModel t = encoder_decoder(Type::char_);
  const EmbeddingView e = embedding_of(t, Side::target);
  const WordVector w = word_vector(e, "k@ing");
  EXPECT_EQ(w.ids.size(), 5u);
  const WordVector known = word_vector(e, "king");
  for (std::size_t c = 0; c < w.vector.size(); ++c) EXPECT_NEAR(w.vector[c], known.vector[c], 1e-7);
  EXPECT_THAT(error_of([&] { word_vector(e, "@"); }, Exit::data),
              testing::HasSubstr("\"@\" has 1 unknown"));
}

TEST(Neighbors, ContextVectorsAreTheLayersOutputs) {
  for (const NormPlacement norm : {NormPlacement::pre, NormPlacement::post}) {
    const TrainedModel t = encoder_decoder(Type::word, norm);
    const ContextResult result = ask_in_context(t, "saw", "a man saw a king saw", 2);
    ASSERT_EQ(result.occurrences.size(), 2u);
    Batch batch;
    const auto ids = t.tokenizers.target->encode("a man saw a king saw");
    batch.source.add_sequence(ids.data(), 6);
    Workspace workspace;
    Pass<float> pass{.values = t.values, .workspace = workspace};
    StackSaved<float> saved;
    const Mat<float> memory = t.model.encode(pass, batch.source, saved);
    const int rows[] = {2, 5};
    for (int i = 0; i < 2; ++i) {
      const auto& layers = result.occurrences[i].layers;
      ASSERT_EQ(layers.size(), 2u);
      for (int c = 0; c < 8; ++c) EXPECT_NEAR(layers[1].vector[c], memory(rows[i], c), 1e-6);
      EXPECT_NEAR(layers[1].cosine_to_static, cosine(layers[1].vector, result.word.vector), 1e-12);
    }
    // After the first layer: a stack of that one layer says the same.
    const Mat<float> x = t.model.embeddings.source->forward(pass, batch.source);
    BlockSaved<float> block;
    const AttentionInput<float> input{.rows = &batch.source, .rotary = saved.rotary};
    const Mat<float> y = t.model.encoder.blocks[0].forward(pass, x, input, block);
    for (int c = 0; c < 8; ++c)
      EXPECT_NEAR(result.occurrences[0].layers[0].vector[c], y(2, c), 1e-6);
  }
}

TEST(Neighbors, ExportIsWord2vecText) {
  const TrainedModel t = encoder_decoder(Type::char_);
  const EmbeddingView e = embedding_of(t, Side::target);
  std::istringstream text(word2vec_text(e));
  int rows = 0, columns = 0;
  text >> rows >> columns;
  EXPECT_EQ(rows, e.table.rows - 3);
  EXPECT_EQ(columns, 8);
  for (int id = 3; id < e.table.rows; ++id) {
    std::string token;
    text >> token;
    EXPECT_EQ(token, e.tokenizer.piece(id) == " " ? "▁" : e.tokenizer.piece(id));
    for (int c = 0; c < 8; ++c) {
      float x = 0;
      text >> x;
      EXPECT_EQ(x, e.table(id, c));
    }
  }
}

TEST(Neighbors, MistakesAreTold) {
  const TrainedModel t = encoder_decoder(Type::word);
  const EmbeddingView e = embedding_of(t, Side::target);
  const auto message = [](auto action, Exit exit) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), exit);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message([&] { word_vector(e, "qeen"); }, Exit::data), HasSubstr("try: queen"));
  EXPECT_THAT(message([&] { word_vector(e, ""); }, Exit::data), HasSubstr("no tokens"));
  EXPECT_THAT(message([&] { ask_in_context(t, "king", "the queen", 2); }, Exit::data),
              HasSubstr("does not occur in"));
  EXPECT_THAT(message([&] { ask_in_context(t, "king", "the king xyz", 2); }, Exit::data),
              HasSubstr("'xyz'"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"king", "-"}, {"king", "man", "+", "woman"}, {"+", "king"}})
    EXPECT_THAT(message([&] { parse_queries(words); }, Exit::usage), HasSubstr("an analogy is"));
}

}  // namespace
}  // namespace heed
