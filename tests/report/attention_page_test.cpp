#include "report/attention_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "nn/models.h"

namespace heed {
namespace {

TEST(AttentionPage, HoldsHostileTokensAsData) {
  const Transformer model(test::tiny_config(test::Family::decoder_only), 11, 11);
  const ParamVec<float> values = test::lively_values<float>(model, 3);
  const Example input{{}, {1, 5}};
  Workspace workspace;
  const AttentionMaps maps = attention_maps(model, values, input, workspace);
  const InputTokens tokens{{}, {"</script><script>alert(1)</script>", "<!--\xFF"}};
  const std::string page =
      attention_page({"a </script> run", AttentionKind::decoder_self, 0, 0}, tokens, maps);
  const auto begin = page.find('{', page.find("id=\"data\"")), end = page.find("</script>", begin);
  const auto data = nlohmann::json::parse(page.substr(begin, end - begin));
  ASSERT_EQ(data["kinds"].size(), 1u);
  EXPECT_EQ(data["kinds"][0]["keys"][0], "</script><script>alert(1)</script>");
  EXPECT_EQ(data["frames"][0]["weights"][0].get<std::string>().size(), 44u);  // of 2 x 2 x 2 x 2
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
}

}  // namespace
}  // namespace heed
