#include "decode/predictor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/splits.h"
#include "decode/beam.h"
#include "decode/decode_models.h"
#include "evaluate/scorer.h"

namespace heed {
namespace {

using test::DecodeModel;
using test::Family;

// The examples that score these targets of some sources.
std::vector<Example> scored_pairs(const RunConfig& config) {
  const auto objective = make_objective(config);
  std::vector<Example> examples;
  for (TokenIds source : test::some_sources(12, 11)) {
    source.pop_back();
    const TokenIds target(source.rbegin(), source.rend());
    examples.push_back(objective->score(source, target, 11).examples[0]);
  }
  return examples;
}

double sum_of(const std::vector<std::vector<double>>& log_probs) {
  double sum = 0;
  for (const auto& of_line : log_probs)
    for (const double x : of_line) sum += x;
  return sum;
}

class Ensemble : public testing::TestWithParam<Family> {
 protected:
  bool alone_ = GetParam() == Family::decoder_only;
  RunConfig config_ = pairs_config(alone_ ? std::vector<std::string>{"model.encoder_layers=0"}
                                          : std::vector<std::string>{});
  DecodeModel models_[3] = {model(1), model(2), model(3)};
  std::vector<Example> examples_ = scored_pairs(config_);
  Pool pool_{2};

  static DecodeModel model(std::uint64_t seed) {
    return DecodeModel(GetParam(), Positions::rotary, 11, seed);
  }
  std::vector<std::vector<double>> scores(const Predictor& predictor) {
    std::vector<std::vector<double>> scores;
    for (const auto& odds : label_odds(predictor, examples_, pool_, -1)) {
      scores.emplace_back();
      for (const TokenOdds& token : odds) scores.back().push_back(token.log_probability);
    }
    return scores;
  }
  Predictor together() const {
    Predictor all{models_[0].model, models_[0].values};
    for (const int i : {1, 2}) all.others.push_back({models_[i].model, models_[i].values});
    return all;
  }
};

// Also that a decoder alone reads its sources while it decodes as it does in one pass.
TEST_P(Ensemble, SearchesWithTheScoresThatItGives) {
  const auto objective = make_objective(config_);
  const BeamOptions options{.beam_size = 3, .n_best = 1, .max_length = 8, .banned = {0, 1}};
  const auto sources = test::some_sources(9, 11);
  const auto found = beam_search(together(), pool_, sources, options);
  examples_.clear();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const TokenIds source(sources[i].begin(), sources[i].end() - 1);
    examples_.push_back(objective->score(source, found[i][0].ids, 11).examples[0]);
  }
  const auto all = scores(together());
  for (std::size_t i = 0; i < sources.size(); ++i)
    EXPECT_NEAR(found[i][0].log_probability, sum_of({all[i]}), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Families, Ensemble,
                         testing::Values(Family::encoder_decoder, Family::decoder_only));

TEST(Misfits, NameTheKeys) {
  const auto keys = [](const RunConfig& a, const RunConfig& b) {
    std::vector<std::string> names;
    for (const KeyChange& change : misfits(a, b)) names.push_back(change.key);
    return names;
  };
  using Names = std::vector<std::string>;
  const RunConfig text = causal_config();
  EXPECT_EQ(keys(text, causal_config({"seed=3", "model.d_model=32", "model.n_heads=2",
                                      "objective.label_smoothing=0.1"})),
            Names());
  EXPECT_EQ(keys(text, causal_config({"objective.target_length=7"})),
            Names{"objective.target_length"});
  EXPECT_EQ(keys(text, causal_config({"data.lowercase=true"})), Names{"data.lowercase"});
  EXPECT_EQ(keys(pairs_config(), pairs_config({"model.encoder_layers=0"})),
            Names{"model.encoder_layers"});
  EXPECT_EQ(keys(pairs_config({"model.positions=learned"}),
                 pairs_config({"model.positions=learned", "model.max_length=300"})),
            Names{"model.max_length"});
  EXPECT_EQ(
      keys(pairs_config({"model.positions=learned"}), pairs_config({"model.positions=rotary"})),
      Names{"model.positions"});
  EXPECT_EQ(keys(pairs_config({"model.positions=none"}), pairs_config({"model.positions=rotary"})),
            Names());
}

}  // namespace
}  // namespace heed
