#include "nn/loss.h"

#include <gmock/gmock.h>

#include "base/error_of.h"
#include "math/buffer.h"

namespace heed {
namespace {

using test::Buffer;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Finite, OneNumberAnywhereInTheRowsIsFound) {
  auto rows = Buffer<float>::random(3, 37, 1, 3e38);  // NaN between the rows does not count
  require_finite(rows.view());
  for (const float bad : {kNaN, kInfinity, -kInfinity})
    for (const int at : {0, 31, 36}) {
      const float usual = rows(1, at);
      rows(1, at) = bad;
      expect_error([&] { require_finite(rows.view()); }, Exit::diverged, {"--checkpoint"});
      rows(1, at) = usual;
    }
  require_finite(Mat<float>());
}

// Also a logit that takes no part in -log p(label).
TEST(Finite, OneLogitAnywhereInALossIsFound) {
  ParamTable table;
  const Linear output(table.add_matrix("lm_head.weight", 3, 1, {}));
  ParamVec<float> values(table.size());
  Workspace workspace;
  Pass<float> pass{.values = values, .workspace = workspace, .forward_only = true};
  Buffer<float> hidden(2, 1);
  hidden.fill(2);
  const auto sums = [&] { return loss(pass, output, hidden.view(), {-1, 0}); };
  require_finite(sums());
  for (const float bad : {kNaN, 3e38f, -3e38f})
    for (int at = 0; at < 3; ++at) {
      values.data()[at] = bad;
      expect_error([&] { require_finite(sums()); }, Exit::diverged, {"--checkpoint"});
      values.data()[at] = 0;
    }
}

}  // namespace
}  // namespace heed
