#include "train/divergence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "train/splits.h"

namespace heed {
namespace {

using testing::HasSubstr;

class Weights : public testing::Test {
 protected:
  explicit Weights(const std::vector<std::string>& sets = {"model.d_model=16"})
      : config_(causal_config(sets)),
        split_(counting_text(40)),
        model_(config_.model, 50, 50),
        examples_(split_, config_, 50, -1),
        values_(model_.table.size()),
        check_(model_, examples_, pool_) {
    initialize(model_.table, config_.seed, values_);
  }
  ParamVec<float> times(float factor) const {
    ParamVec<float> v(values_.size());
    std::transform(values_.data(), values_.data() + v.size(), v.data(),
                   [&](float x) { return factor * x; });
    return v;
  }

  RunConfig config_;
  Split split_;
  Transformer model_;
  Examples examples_;
  Pool pool_{2};
  ParamVec<float> values_;
  WeightCheck check_;
};

TEST_F(Weights, SoundOnesAreKept) {
  check_.begins_with(values_);
  EXPECT_EQ(check_.fault(values_), "");
  EXPECT_EQ(check_.fault(times(1.2F)), "");
}

TEST_F(Weights, RuinedOnesAreNot) {
  check_.begins_with(values_);
  EXPECT_THAT(check_.fault(times(300)), HasSubstr("loss of "));
  EXPECT_THAT(check_.fault(times(300)), HasSubstr("guessing 3.9"));  // ln 50
}

TEST_F(Weights, WhatIsNoNumberIsNamed) {
  check_.begins_with(values_);
  ParamVec<float> bad = times(1);
  const ParamInfo& last = model_.table.infos().back();
  bad.data()[last.param.offset] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(check_.fault(bad), "NaN or infinity in the values of " + last.name);
  EXPECT_EQ(not_finite(model_.table, values_, bad, ""),
            "NaN or infinity in the gradient of " + last.name);
  EXPECT_EQ(not_finite(model_.table, values_, values_, "the loss"), "NaN or infinity in the loss");
}

// What such weights predict first is the token they read, with a logit of about sqrt(d_model).
class WideWeights : public Weights {
 protected:
  WideWeights() : Weights({"model.d_model=2048", "model.decoder_layers=1", "model.d_ff=8"}) {}
};

TEST_F(WideWeights, MayBeginFarAboveGuessing) {
  check_.begins_with(times(1e-3F));
  ASSERT_NE(check_.fault(values_), "");  // the case is one
  check_.begins_with(values_);
  EXPECT_EQ(check_.fault(values_), "");
  EXPECT_NE(check_.fault(times(300)), "");
}

}  // namespace
}  // namespace heed
