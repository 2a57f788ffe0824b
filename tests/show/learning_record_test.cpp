#include "show/learning_record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace heed {
namespace {

TEST(LearningJson, IsReadAsItWasWritten) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Learning learning{
      {{"b", 1.23456789, 2, 0, kNan}, {"a", 1e-9, 1e9, 0.5, -1}},
      {{AttentionKind::encoder_self, 3, {{0.25, kNan}, {}}}, {AttentionKind::cross, INFINITY, {}}}};
  const std::string text = json_of(learning).dump();
  EXPECT_EQ(text,
            R"({"matrices":{"b":{"gradient_norm":1.23457,"weight_norm":2.0,"update_ratio":0.0,)"
            R"("cosine":null},"a":{"gradient_norm":1e-09,"weight_norm":1000000000.0,)"
            R"("update_ratio":0.5,"cosine":-1.0}},"entropy":{"encoder":{"uniform":3.0,)"
            R"("heads":[[0.25,null],[]]},"cross":{"uniform":null,"heads":[]}}})");
  const auto read = learning_of(nlohmann::ordered_json::parse(text));
  ASSERT_TRUE(read);
  EXPECT_TRUE(std::isnan(read->matrices[0].cosine));
  EXPECT_EQ(read->entropy[1].kind, AttentionKind::cross);
  EXPECT_EQ(json_of(*read).dump(), text);
}

TEST(LearningJson, AnotherFormIsNoRecord) {
  for (const char* text :
       {"null", "[]", "{}", R"({"matrices": {}})", R"({"matrices": [], "entropy": {}})",
        R"({"matrices": {"a": {"gradient_norm": 1}}, "entropy": {}})",
        R"({"matrices": {}, "entropy": {"self": {"uniform": 1, "heads": []}}})",
        R"({"matrices": {}, "entropy": {"cross": {"uniform": "1", "heads": []}}})",
        R"({"matrices": {}, "entropy": {"cross": {"uniform": 1, "heads": [{}]}}})",
        R"({"matrices": {}, "entropy": {"cross": {"uniform": 1, "heads": [[true]]}}})"})
    EXPECT_FALSE(learning_of(nlohmann::ordered_json::parse(text))) << text;
}

}  // namespace
}  // namespace heed
