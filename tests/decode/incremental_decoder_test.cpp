#include "decode/incremental_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/error_of.h"
#include "decode/decode_models.h"

namespace heed {
namespace {

using test::DecodeModel;
using test::Family;

std::vector<float> row(Mat<float> m, int r) {
  return {m.row(r), m.row(r) + m.cols};
}

TEST(IncrementalDecoder, ASlotDoesNotDependOnBatchSplitOrThreads) {
  constexpr int kSlots = 13;  // enough to be shared out over three threads
  const DecodeModel m(Family::encoder_decoder);
  const auto sources = test::some_sources(kSlots, 11);
  const std::vector<int> target{1, 5, 7, 3};
  for (int threads : {1, 3}) {
    Pool pool(threads);
    IncrementalDecoder many({m.model, m.values}, pool, kSlots, 8);
    many.read_sources(sources);
    std::vector<IncrementalDecoder::Tokens> feeds;
    for (int i = 0; i < kSlots; ++i) {
      many.restart(i, i);
      feeds.push_back({i, target});
    }
    const Mat<float> together = many.step(feeds);
    for (int i = 0; i < kSlots; ++i) {
      IncrementalDecoder one({m.model, m.values}, pool, 1, 4);
      one.read_sources({&sources[i], 1});
      std::vector<float> last;
      for (const int& id : target) {  // token by token
        const IncrementalDecoder::Tokens feed{0, {&id, 1}};
        last = row(one.step({&feed, 1}), 0);
      }
      EXPECT_EQ(row(together, i), last) << threads << " threads, sequence " << i;
    }
  }
}

TEST(IncrementalDecoder, LogitsThatAreNaNOrInfiniteAreAnError) {
  const DecodeModel m(Family::decoder_only);
  Pool pool(1);
  const int id = 5;
  const IncrementalDecoder::Tokens token{0, {&id, 1}};
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), 3e38f, -3e38f}) {
    DecodeModel ruined(Family::decoder_only);
    const Param& weight = m.model.output.weight;  // one logit alone goes wrong
    std::fill_n(ruined.values.data() + weight.offset + 7 * weight.cols, weight.cols, bad);
    IncrementalDecoder decoder({ruined.model, ruined.values}, pool, 1, 2);
    expect_error([&] { decoder.step({&token, 1}); }, Exit::diverged, {"--checkpoint"});
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
