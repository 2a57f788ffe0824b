// Names of heads: planted ones are found, others have none.
#include "show/head_words.h"

#include <gtest/gtest.h>

#include <map>

#include "data/splits.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

constexpr int kTokensOfText = 14, kPlaces = 26, kWidth = 2 * kTokensOfText + kPlaces,
              kHead = kWidth / 2;

class HeadNames : public testing::Test {
 protected:
  HeadNames() {
    tokenizers_.target = train(TokenizerConfig::char_, "abcdefghij,");
    for (int i = 0; i < 600; ++i)
      split_.target.push_back(3 + static_cast<int>(combine(7, i) % (kTokensOfText - 3)));
  }

  std::map<std::string, std::string> named(const ParamVec<float>& trained,
                                           const ParamVec<float>& untrained) const {
    const HeadProbe probe(model_, tokenizers_, *objective_, split_, untrained);
    std::map<std::string, std::string> names;
    for (const HeadName& n : probe.names(trained))
      names[std::to_string(n.layer) + "." + std::to_string(n.head)] = n.name;
    return names;
  }

  ParamVec<float> initial(std::uint64_t seed) const {
    ParamVec<float> values(model_.table.size());
    initialize(model_.table, seed, values);
    return values;
  }

  const RunConfig config_ = causal_config(
      {key_is("model.d_model", kWidth), "model.n_heads=2", "model.decoder_layers=2",
       "model.positions=learned", "model.feed_forward=none", "model.dropout=0",
       key_is("objective.target_length", kPlaces), key_is("model.max_length", kPlaces)});
  const std::unique_ptr<const Objective> objective_ = make_objective(config_);
  const Transformer model_{config_.model, kTokensOfText, kTokensOfText};
  Tokenizers tokenizers_;
  Split split_{kTokensOfText, kTokensOfText};
};

// A row is one-hot in its token, in its place, and, once head 0 has copied it, in the token before.
TEST_F(HeadNames, ArePlantedOnes) {
  ParamVec<float> v(model_.table.size());
  for (const ParamInfo& info : model_.table.infos())
    if (info.init.kind == Initializer::ones)
      std::fill_n(v.data() + info.param.offset, info.param.size(), 1.0f);
  const Embedding& embedding = *model_.embeddings.target;
  for (int id = 0; id < kTokensOfText; ++id) v[embedding.tokens](id, id) = 1;
  for (int p = 0; p < kPlaces; ++p) v[embedding.positions](p, kTokensOfText + p) = 1;
  constexpr float kSharp = 4;
  const auto plant = [&](const Attention& a, int head, auto&& query, auto&& key) {
    const Mat<float> w = v[a.in.weight];
    query(w.row_range(head * kHead, (head + 1) * kHead));
    key(w.row_range(kWidth + head * kHead, kWidth + (head + 1) * kHead));
  };
  const auto one_hot = [&](int from, int n, int shift = 0) {
    return [=](Mat<float> w) {
      for (int i = 0; i < n; ++i)
        if (i + shift >= 0 && i + shift < w.rows) w(i + shift, from + i) = kSharp;
    };
  };
  const Attention& first = model_.decoder.blocks[0].self_attention;
  plant(first, 0, one_hot(kTokensOfText, kPlaces),
        one_hot(kTokensOfText, kPlaces, 1));  // place i on i - 1
  plant(
      first, 1, [](Mat<float>) {}, one_hot(kTokensOfText, 1));  // any place on place 0
  v[first.in.bias](0, kHead) = 20;
  for (int i = 0; i < kTokensOfText; ++i) {  // head 0 copies the token
    v[first.in.weight](2 * kWidth + i, i) = 1;
    v[first.out.weight](kTokensOfText + kPlaces + i, i) = 0.2f;
  }
  const Attention& second = model_.decoder.blocks[1].self_attention;
  plant(second, 0, one_hot(0, kTokensOfText), one_hot(kTokensOfText + kPlaces, kTokensOfText));
  const std::map<std::string, std::string> expected = {
      {"0.0", "previous token"}, {"0.1", "first token"}, {"1.0", "induction"}};
  EXPECT_EQ(named(v, initial(1)), expected);
  EXPECT_TRUE(named(v, v).empty());  // no better than untrained
}

TEST_F(HeadNames, AreRareInUntrainedModels) {
  std::size_t heads = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    heads += named(initial(seed), initial(seed + 100)).size();
  EXPECT_LE(heads, 20 * 4 / 20);
}

TEST_F(HeadNames, AreNoneWhereWeightsAreEven) {
  ParamVec<float> even(model_.table.size());
  EXPECT_TRUE(named(even, initial(1)).empty());
}

}  // namespace
}  // namespace heed
