#include "show/attention_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "nn/models.h"
#include "text/tokenizer_trainer.h"

namespace heed {
namespace {

TEST(AttentionPage, HoldsHostileTokensAsData) {
  const Transformer model(test::tiny_config(test::Family::decoder_only), 11, 11);
  const ParamVec<float> values = test::lively_values<float>(model, 3);
  const Example input{{}, {1, 5}};
  Workspace workspace;
  const MapsAndNext pass = maps_and_next(model, values, input, workspace, kNextTokens);
  TokenizerConfig config;
  config.type = TokenizerConfig::word;
  TokenizerTrainer trainer(config, {}, 1);
  trainer.add("</script><b> c d e f g h i");  // 11 ids with the three special ones
  const InputTokens tokens{{}, {"</script><script>alert(1)</script>", "<!--\xFF"}, "", "</script>"};
  const std::string page =
      attention_page("a </script> run", input, tokens, pass, *trainer.finish().tokenizer);
  const auto begin = page.find('{', page.find("id=\"data\"")), end = page.find("</script>", begin);
  const auto data = nlohmann::json::parse(page.substr(begin, end - begin));
  EXPECT_EQ(data["target_tokens"][0], "</script><script>alert(1)</script>");
  EXPECT_FALSE(data.contains("encoder") || data.contains("cross"));
  const AttentionMap& map = map_of(pass.maps, AttentionKind::decoder_self);
  EXPECT_EQ(data["decoder"][1][0][1][0].get<float>(), map.head(1, 0)(1, 0));
  EXPECT_EQ(data["lengths"]["decoder"].get<std::vector<float>>(), map.lengths);
  EXPECT_EQ(data["target"], "</script>");
  ASSERT_EQ(data["next"].size(), 2u);
  EXPECT_EQ(data["next"][1].size(), 5u);
  EXPECT_GE(data["next"][1][0]["p"], data["next"][1][1]["p"]);
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
}

}  // namespace
}  // namespace heed
