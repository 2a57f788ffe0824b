#include "train/validation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/error_of.h"
#include "data/splits.h"

namespace heed {
namespace {

class Weights : public testing::Test {
 protected:
  explicit Weights(const std::vector<std::string>& sets = {"model.d_model=16"})
      : config_(causal_config(sets)),
        split_(counting_text(40)),
        model_(config_.model, 50, 50),
        examples_(split_, config_),
        values_(model_.table.size()) {
    initialize(model_.table, config_.seed, values_);
  }
  ParamVec<float> times(float factor) const {
    ParamVec<float> v(values_.size());
    std::transform(values_.data(), values_.data() + v.size(), v.data(),
                   [&](float x) { return factor * x; });
    return v;
  }
  std::string fault(const ParamVec<float>& values) {
    return checkpoint_defect({model_, values}, examples_.evaluation(), pool_);
  }

  RunConfig config_;
  Split split_;
  Transformer model_;
  Examples examples_;
  Pool pool_{2};
  ParamVec<float> values_;
};

TEST_F(Weights, RuinedOnesAreTold) {
  EXPECT_EQ(fault(values_), "");
  EXPECT_EQ(fault(times(1.2F)), "");
  EXPECT_NEAR(divergence_threshold(model_), 4 * (3.912 + 4), 1e-2);  // 4 (ln 50 + sqrt 16)
  expect_facts(fault(times(300)), {"32"});
}

TEST_F(Weights, WhatIsNoNumberIsNamed) {
  ParamVec<float> bad = times(1);
  const ParamInfo& last = model_.table.infos().back();
  bad.data()[last.param.offset] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(fault(bad), "NaN or infinity in the values of " + last.name);
  EXPECT_EQ(not_finite(model_.table, values_, bad),
            "NaN or infinity in the gradient of " + last.name);
  EXPECT_EQ(not_finite(model_.table, values_, values_),
            "NaN or infinity in the loss or its gradient");
}

// What such weights predict first is the token they read, with a logit of about sqrt(d_model).
class WideWeights : public Weights {
 protected:
  WideWeights() : Weights({"model.d_model=2048", "model.decoder_layers=1", "model.d_ff=8"}) {}
};

TEST_F(WideWeights, MayBeginFarAboveGuessing) {
  EXPECT_EQ(fault(values_), "");
  EXPECT_NE(fault(times(300)), "");
}

}  // namespace
}  // namespace heed
