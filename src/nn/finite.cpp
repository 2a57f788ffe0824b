#include "nn/finite.h"

#include <cmath>

#include "base/error.h"
#include "math/lanes.h"

namespace heed {
namespace {

void refuse_ruined(double x) {
  if (std::isfinite(x)) return;
  throw Error(Exit::diverged, "the model's logits are NaN or infinite: its weights are ruined.",
              "an earlier checkpoint: --checkpoint");
}

}  // namespace

void require_finite(In<float> rows) {
  Lanes<float> sums{};  // of x - x, which is 0, or NaN where x is NaN or infinite
  for (int r = 0; r < rows.rows; ++r) {
    const float* x = rows.row(r);
    for_lanes<float>(0, rows.cols, [&](auto at) {
      const Lanes<float> v = at.load(x);
      sums = sums + (v - v);
    });
  }
  refuse_ruined(total(sums));
}

// The objective includes eps times the sum of the logits, and 0 times infinity is NaN too.
void require_finite(const LossSums& sums) {
  refuse_ruined(sums.objective);
}

}  // namespace heed
