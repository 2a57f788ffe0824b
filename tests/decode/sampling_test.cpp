#include "decode/sampling.h"

#include <gtest/gtest.h>

#include "data/splits.h"
#include "decode/decode_models.h"
#include "decode/incremental_decoder.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

using test::DecodeModel;
using test::Family;

std::vector<std::vector<int>> samples(const DecodeModel& m, const SampleRequest& request,
                                      int threads = 1) {
  const std::string length = "objective.target_length=6";
  const auto objective =
      make_objective(m.model.has_encoder() ? text_config({"objective.source_length=5", length})
                                           : causal_config({length}));
  Pool pool(threads);
  std::vector<std::vector<int>> result(request.num_samples);
  int complete = 0;
  draw_samples(
      {m.model, m.values}, *objective, pool, request,
      [&](int i, const TokenOdds& token) {
        result[i].push_back(token.id);
        return true;
      },
      [&](int) { ++complete; });
  EXPECT_EQ(complete, request.num_samples);
  return result;
}

SampleRequest text_request() {
  SampleRequest r;
  r.prompt = {4, 5, 6};
  r.max_tokens = 25;  // several new starts
  r.banned = {0, 1, 2};
  return r;
}

class EveryFamily : public testing::TestWithParam<Family> {};

TEST_P(EveryFamily, SampleIIsTheSameWhateverIsDrawnBesideIt) {
  const DecodeModel m(GetParam(), Positions::learned);
  SampleRequest r = text_request();
  r.rules.repetition_penalty = 1.3;
  r.num_samples = 150;  // more than one group
  const auto many = samples(m, r, 3);
  EXPECT_NE(many[0], many[1]);
  for (const int n : {1, 2, 5}) {
    r.num_samples = n;
    const auto few = samples(m, r, 2);
    for (int i = 0; i < n; ++i) EXPECT_EQ(few[i], many[i]);
  }
  r.seed = 2;
  EXPECT_NE(samples(m, r)[0], many[0]);
}

TEST_P(EveryFamily, ALongerSampleBeginsWithTheShorterOne) {
  const DecodeModel m(GetParam());
  SampleRequest r = text_request();
  std::vector<int> longer = samples(m, r)[0];
  EXPECT_EQ(longer.size(), 25u);
  r.max_tokens = 9;
  longer.resize(9);
  EXPECT_EQ(samples(m, r)[0], longer);
}

INSTANTIATE_TEST_SUITE_P(Families, EveryFamily,
                         testing::Values(Family::encoder_decoder, Family::decoder_only));

// What the model says follows `target` (which begins with <s> or not), computed apart.
int most_probable(const DecodeModel& m, const std::vector<int>& source,
                  const std::vector<int>& target, const std::vector<int>& banned) {
  Pool pool(1);
  IncrementalDecoder decoder({m.model, m.values}, pool, 1, static_cast<int>(target.size()));
  decoder.read_sources({&source, 1});
  const IncrementalDecoder::Tokens feed{0, target};
  const Mat<float> logits = decoder.step({&feed, 1});
  const std::span<float> row(logits.data, static_cast<std::size_t>(logits.cols));
  apply_rules(row, {.temperature = 0}, {}, banned);
  return static_cast<int>(std::find(row.begin(), row.end(), 1.0f) - row.begin());
}

TEST(Sampling, AnEncoderDecoderStartsAnewFromTheLastTokens) {
  const DecodeModel m(Family::encoder_decoder);
  SampleRequest r = text_request();
  r.rules.temperature = 0;
  const auto text = samples(m, r)[0];
  std::vector<int> all = r.prompt;
  std::vector<int> source, target;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % 6 == 0) {  // target_length
      const std::size_t n = std::min<std::size_t>(5, all.size());
      source.assign(all.end() - static_cast<std::ptrdiff_t>(n), all.end());
      target = {Tokenizer::kBos};
    }
    ASSERT_EQ(text[i], most_probable(m, source, target, r.banned)) << i;
    all.push_back(text[i]);
    target.push_back(text[i]);
  }
}

TEST(Sampling, AnEmptyPromptReadsTheBeginningAlone) {
  const DecodeModel m(Family::encoder_decoder);
  SampleRequest r = text_request();
  r.prompt.clear();
  r.rules.temperature = 0;
  EXPECT_EQ(samples(m, r)[0][0], most_probable(m, {Tokenizer::kBos}, {Tokenizer::kBos}, r.banned));
}

TEST(Sampling, ADecoderAloneKeepsTheLastHalf) {
  const DecodeModel m(Family::decoder_only, Positions::learned);
  SampleRequest r = text_request();
  r.rules.temperature = 0;
  const auto text = samples(m, r)[0];
  std::vector<int> window{Tokenizer::kBos, 4, 5, 6};
  std::vector<int> all = r.prompt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    ASSERT_EQ(text[i], most_probable(m, {}, window, r.banned)) << i;
    all.push_back(text[i]);
    if (window.size() == 6)
      window.assign(all.end() - 3, all.end());
    else
      window.push_back(text[i]);
  }
}

TEST(Sampling, FirstTokensHaveTheModelsProbabilities) {
  const DecodeModel m(Family::decoder_only);
  SampleRequest r = text_request();
  r.max_tokens = 1;
  r.num_samples = 20000;
  Pool pool(1);
  IncrementalDecoder decoder({m.model, m.values}, pool, 1, 6);
  const std::vector<int> ids{1, 4, 5, 6};
  const IncrementalDecoder::Tokens feed{0, ids};
  const Mat<float> logits = decoder.step({&feed, 1});
  const std::span<float> expected(logits.data, static_cast<std::size_t>(logits.cols));
  apply_rules(expected, r.rules, {}, r.banned);
  std::vector<int> counts(m.model.target_vocab);
  for (const auto& s : samples(m, r)) ++counts[s.front()];
  double chi_square = 0;  // 7 degrees of freedom: above 24.3 once in a thousand
  int possible = 0;
  for (std::size_t id = 0; id < expected.size(); ++id) {
    const double n = expected[id] * r.num_samples;
    if (n == 0) {
      EXPECT_EQ(counts[id], 0);
      continue;
    }
    ++possible;
    chi_square += (counts[id] - n) * (counts[id] - n) / n;
  }
  EXPECT_EQ(possible, 8);
  EXPECT_LT(chi_square, 24.3);
}

struct Shown {
  std::string text;
  std::vector<std::string> parts;
  bool stopped = false;
};

Shown stream(const std::string& bytes, const std::vector<std::string>& stops) {
  const auto tokenizer = train(TokenizerConfig::byte, "xy");
  TextStream s(*tokenizer, -1, stops);
  Shown shown;
  for (const int id : tokenizer->encode(bytes)) {
    if (s.stopped()) break;
    shown.parts.push_back(s.push(id));
    shown.text += shown.parts.back();
  }
  shown.stopped = s.stopped();
  shown.text += s.finish();
  return shown;
}

TEST(TextStream, NeverShowsHalfACharacterAndReplacesBytesThatAreNoText) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(stream("a\xC3\xA9\xE2\x82\xAC!", {}).parts,
            (Parts{"a", "", "\xC3\xA9", "", "", "\xE2\x82\xAC", "!"}));
  EXPECT_EQ(stream("a\xFF-\xC3", {}).text, "a\uFFFD-\uFFFD");
}

TEST(TextStream, EndsBeforeAStopString) {
  const Shown s = stream("one. two", {"x", ". t"});
  EXPECT_TRUE(s.stopped);
  EXPECT_EQ(s.text, "one");
  for (const std::string& part : s.parts) EXPECT_EQ(part.find('.'), std::string::npos);
}

TEST(TextStream, ABeginningOfAStopStringComesAfterAll) {
  const Shown s = stream("aab aaab.", {"aaac", "ab!"});
  EXPECT_FALSE(s.stopped);
  EXPECT_EQ(s.text, "aab aaab.");
  EXPECT_TRUE(stream("aaaac", {"aaac"}).stopped);
  EXPECT_EQ(stream("aaaac", {"aaac"}).text, "a");
}

TEST(TextStream, TheSpaceOfTheFirstWordMayHaveBeenShown) {
  const auto tokenizer = train(TokenizerConfig::byte, "xy");
  for (const std::string first : {"", " "}) {
    TextStream s(*tokenizer, -1, {}, true);
    std::string shown;
    for (const int id : tokenizer->encode(first + "a b")) shown += s.push(id);
    EXPECT_EQ(shown, "a b");
  }
}

}  // namespace
}  // namespace heed
