#include "decode/beam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/splits.h"
#include "decode/decode_models.h"
#include "decode/incremental_decoder.h"
#include "decode/sampling.h"
#include "evaluate/scorer.h"

namespace heed {
namespace {

using test::DecodeModel;
using test::Family;

const std::vector<int> kBanned{Tokenizer::kUnk, Tokenizer::kBos};

void expect_same(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].ids, b[i].ids);
    EXPECT_EQ(a[i].score, b[i].score);
  }
}

TEST(Beam, TogetherEqualsOneByOneOnAnyThreads) {
  const DecodeModel m(Family::encoder_decoder);
  const auto sources = test::some_sources(20, 11);
  BeamOptions options{.beam_size = 4, .n_best = 3, .max_length = 12, .banned = kBanned};
  Pool one(1), three(3);
  const auto together = beam_search({m.model, m.values}, three, sources, options);
  for (std::size_t i = 0; i < sources.size(); ++i)
    expect_same(together[i],
                beam_search({m.model, m.values}, one, {&sources[i], 1}, options).front());
}

TEST(Beam, OfSizeOneIsGreedy) {
  const auto sources = test::some_sources(10, 11);
  Pool pool(1);
  int ended = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const DecodeModel m(Family::encoder_decoder, Positions::sinusoidal, 11, seed);
    BeamOptions options{.beam_size = 1, .max_length = 10, .banned = kBanned};
    const auto found = beam_search({m.model, m.values}, pool, sources, options);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      SampleRequest greedy;
      greedy.prompt.assign(sources[i].begin(), sources[i].end() - 1);  // without </s>
      greedy.max_tokens = 10;
      greedy.rules.temperature = 0;
      greedy.banned = kBanned;
      std::vector<int> ids;
      draw_samples(
          {m.model, m.values}, *make_objective(pairs_config()), pool, greedy,
          [&](int, const TokenOdds& token) {
            ids.push_back(token.id);
            return true;
          },
          [](int) {});
      EXPECT_EQ(found[i].front().ids, ids);
      ended += ids.size() < 10;
    }
  }
  EXPECT_GT(ended, 0);
}

// All targets of at most `length` tokens over the ids 3 .. vocab - 1.
std::vector<std::vector<int>> all_targets(int vocab, int length) {
  std::vector<std::vector<int>> all{{}};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (static_cast<int>(all[i].size()) < length)
      for (int id = 3; id < vocab; ++id) {
        all.push_back(all[i]);
        all.back().push_back(id);
      }
  return all;
}

TEST(Beam, AWideOneFindsTheBestOfAll) {
  constexpr int kVocab = 6, kLength = 4;
  const auto sources = test::some_sources(3, kVocab);
  const auto objective = make_objective(pairs_config());
  Pool pool(2);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const DecodeModel m(Family::encoder_decoder, Positions::rotary, kVocab, seed);
    for (const double penalty : {0.0, 1.0, 2.0}) {
      BeamOptions options{
          .beam_size = 200, .length_penalty = penalty, .max_length = kLength, .banned = kBanned};
      const auto found = beam_search({m.model, m.values}, pool, sources, options);
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const std::vector<int> source(sources[i].begin(), sources[i].end() - 1);
        double best = -1e9;
        for (const auto& target : all_targets(kVocab, kLength)) {
          const auto scores = label_odds(
              {m.model, m.values}, objective->score(source, target, kVocab).examples, pool, -1);
          double sum = 0;
          for (const TokenOdds& token : scores.front()) sum += token.log_probability;
          best = std::max(best, sum / std::pow(scores.front().size(), penalty));
        }
        EXPECT_NEAR(found[i].front().score, best, 1e-5) << "seed " << seed << ", " << penalty;
        // No narrower search finds a better one.
        for (options.beam_size = 1; options.beam_size < 8; ++options.beam_size)
          EXPECT_LE(beam_search({m.model, m.values}, pool, {&sources[i], 1}, options)
                        .front()
                        .front()
                        .score,
                    found[i].front().score);
        options.beam_size = 200;
      }
    }
  }
}

TEST(IncrementalDecoder, SharedHeadsMakeRoomForMoreSequences) {
  ModelConfig c;
  c.d_model = 64;
  c.n_heads = 4;
  c.decoder_layers = 2;
  const std::vector<std::vector<int>> sources(1, std::vector<int>(100'000));
  const ParamVec<float> none{};
  const auto slots = [&](int most) {
    return slots_at_a_time({Transformer(c, 11, 11), none}, 100'000, sources, most);
  };
  EXPECT_EQ(slots(100), 2);  // 64 million / (2 x 2 layers x 64 x 1e5)
  c.n_kv_heads = 1;
  EXPECT_EQ(slots(100), 10);
  EXPECT_EQ(slots(6), 6);
  c.encoder_layers = 0;  // the decoder reads the source too
  EXPECT_EQ(slots(100), 5);
  const Transformer model(c, 11, 11);
  const Predictor one{model, none}, two{.model = model, .values = none, .others = {one}};
  EXPECT_EQ(slots_at_a_time(two, 100'000, sources, 100), 2);
}

}  // namespace
}  // namespace heed
