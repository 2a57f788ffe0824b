#include "inspect/scores_text.h"
#include "inspect/attention_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ScoresTable, ShowsTheTwelveBestHeadsBestFirst) {
  KindScores k;
  k.kind = AttentionKind::cross;
  k.links = k.groups = 3;
  k.group_name = "lines";
  const auto score = [](double mass) { return Score{3, {mass, {}}, {0, {}}, {1, {}}, {}, {}}; };
  for (int head = 0; head < 14; ++head)
    k.heads.push_back({2, head, score(0.01 * head), score(0.5 - 0.01 * head), score(0)});
  k.uniform = score(0.1);
  const std::string table = scores_table({k});
  EXPECT_THAT(table, testing::StartsWith("cross attention: 3 links of 3 lines\n"));  // no intervals
  EXPECT_LT(table.find("2     13"), table.find("2     2 "));
  EXPECT_THAT(table, Not(HasSubstr("2     1 ")));
  EXPECT_THAT(table, HasSubstr("\n2 more heads: --json\n"
                               "most mass on gold: layer 2, head 13 with 0.130; the best untrained "
                               "head has 0.500, uniform"));
  EXPECT_THAT(table, HasSubstr("AER: alignment error rate"));
}

}  // namespace
}  // namespace heed
