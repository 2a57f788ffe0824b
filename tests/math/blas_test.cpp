#include "math/blas.h"

#include "math/buffer.h"

namespace heed {
namespace {

using test::Buffer;

// Every test of the program runs with OpenBLAS on the calling thread, as heed itself does.
class SingleThreadedBlas : public testing::Environment {
 public:
  void SetUp() override { prepare_blas(); }
};
const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new SingleThreadedBlas);

// OpenBLAS 0.3.21 takes these for every processor that it does not know.
TEST(Blas, AProcessorThatItDoesNotKnowGetsKernelsWithAvx) {
  EXPECT_NE(blas_core_type(), "Prescott");
}

TEST(Gemm, AnEmptySumLeavesBetaC) {
  const Buffer<double> a(2, 0), b(0, 3);
  const auto before = Buffer<double>::random(2, 3, 3);
  Buffer<double> c = before;
  gemm(1.0, as_is(a.view()), as_is(b.view()), 0.5, c.mat());
  test::expect_near(
      c, [&](int r, int j) { return 0.5 * before(r, j); }, 0);
}

}  // namespace
}  // namespace heed
