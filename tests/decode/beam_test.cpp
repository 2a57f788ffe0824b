#include "decode/beam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/splits.h"
#include "decode/decode_models.h"
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

TEST(Beam, RulesHoldInEverySearch) {
  const DecodeModel m(Family::encoder_decoder);
  const auto sources = test::some_sources(6, 11);
  const WritingRules rules{.no_repeat = 2, .min_tokens = 7, .beginning = {5, 6, 5, 6}};
  Pool pool(1);
  const auto check = [&](std::span<const int> ids) {
    EXPECT_GE(ids.size(), 7u);
    EXPECT_TRUE(std::ranges::equal(ids.first(4), rules.beginning));
    for (std::size_t i = 1; i + 1 < ids.size(); ++i)
      for (std::size_t j = std::max<std::size_t>(3, i + 1); j + 1 < ids.size(); ++j)
        EXPECT_FALSE(ids[i] == ids[j] && ids[i + 1] == ids[j + 1]) << i << " " << j;
  };
  for (const int size : {1, 4}) {
    const BeamOptions options{
        .beam_size = size, .max_length = 12, .rules = rules, .banned = kBanned};
    for (const auto& found : beam_search({m.model, m.values}, pool, sources, options))
      check(found.front().ids);
  }
  // With every token once, the search ends when there is none left.
  BeamOptions once{.beam_size = 3, .max_length = 40, .banned = kBanned};
  once.rules.no_repeat = 1;
  once.rules.min_tokens = 40;
  const auto all = beam_search({m.model, m.values}, pool, {&sources[0], 1}, once).front();
  EXPECT_EQ(all.front().ids.size(), 8u);  // 11 ids without <unk>, <s> and </s>
  EXPECT_TRUE(all.front().ended);         // not cut
  SampleRequest request;
  request.prompt = {3, 4};
  request.max_tokens = 12;
  request.num_samples = 8;
  request.writing = rules;
  request.banned = kBanned;
  std::vector<std::vector<int>> samples(8);
  draw_samples(
      {m.model, m.values}, *make_objective(pairs_config()), pool, request,
      [&](int sample, const TokenOdds& token) {
        samples[sample].push_back(token.id);
        return true;
      },
      [](int) {});
  for (const auto& ids : samples) check(ids);
}

TEST(Beam, ScoresAreThoseOfScore) {
  const DecodeModel m(Family::encoder_decoder);
  const auto sources = test::some_sources(8, 11);
  BeamOptions options{
      .beam_size = 5, .length_penalty = 0.7, .n_best = 5, .max_length = 9, .banned = kBanned};
  Pool pool(2);
  const auto found = beam_search({m.model, m.values}, pool, sources, options);
  const auto objective = make_objective(pairs_config());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::vector<int> source(sources[i].begin(), sources[i].end() - 1);
    EXPECT_EQ(found[i].size(), 5u);
    for (const Hypothesis& h : found[i]) {
      const auto scores =
          label_odds({m.model, m.values}, objective->score(source, h.ids, 11).examples, pool, -1);
      double sum = 0;
      for (const TokenOdds& token : scores.front()) sum += token.log_probability;
      EXPECT_NEAR(h.log_probability, sum, 1e-4);
      EXPECT_NEAR(h.score, sum / std::pow(scores.front().size(), 0.7), 1e-4);
    }
  }
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

}  // namespace
}  // namespace heed
