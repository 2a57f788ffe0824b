// Overlapping windows.
#include <gtest/gtest.h>

#include <algorithm>

#include "data/splits.h"

namespace heed {
namespace {

TEST(CausalLm, WindowsScoreEveryTokenOnceAndShowItEnough) {
  for (const int n : {1, 4, 5, 17, 24}) {
    const Split text = counting_text(n);
    for (const int length : {1, 4, 8}) {
      const auto objective =
          make_objective(causal_config({set("objective.target_length", length)}));
      for (int stride = 1; stride <= length; ++stride) {
        const ExampleList windows = objective->evaluation(text, stride);
        std::vector<int> scored;
        for (std::int64_t i = 0; i < windows.count; ++i) {
          Example e;
          windows.get(i, e);
          ASSERT_EQ(e.target.size(), e.labels.size());
          ASSERT_LE(e.labels.size(), length);
          for (std::size_t row = 0; row < e.labels.size(); ++row) {
            if (e.labels[row] < 0) continue;
            scored.push_back(e.labels[row]);
            const int read = e.labels[row] == 10 ? Tokenizer::kBos : e.labels[row] - 1;
            EXPECT_EQ(e.target[row], read);  // the token before it
            EXPECT_GE(static_cast<int>(row) + 1,
                      std::min(e.labels[row] - 10 + 1, length - stride + 1));
          }
        }
        std::vector<int> all(n);
        for (int i = 0; i < n; ++i) all[i] = 10 + i;
        EXPECT_EQ(scored, all) << n << " tokens, windows of " << length << ", stride " << stride;
      }
    }
  }
}

}  // namespace
}  // namespace heed
