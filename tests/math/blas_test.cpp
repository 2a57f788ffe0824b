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

template <class T>
class Gemm : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, Types);

template <class T>
void check(int m, int n, int k, Op op_a, Op op_b, double alpha, double beta) {
  SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << " ops "
                                  << static_cast<int>(op_a) << static_cast<int>(op_b));
  const bool ta = op_a == Op::transpose, tb = op_b == Op::transpose;
  const auto a = Buffer<T>::random(ta ? k : m, ta ? m : k, 1);
  const auto b = Buffer<T>::random(tb ? n : k, tb ? k : n, 2);
  const auto before = Buffer<T>::random(m, n, 3);
  Buffer<T> c = before;
  if (beta == 0) c.fill(std::numeric_limits<T>::quiet_NaN());  // overwritten, not multiplied by 0
  gemm(static_cast<T>(alpha), Operand<T>{a.view(), op_a}, Operand<T>{b.view(), op_b},
       static_cast<T>(beta), c.mat());
  test::expect_near(
      c,
      [&](int r, int j) {
        double sum = 0;
        for (int i = 0; i < k; ++i)
          sum += static_cast<double>(ta ? a(i, r) : a(r, i)) * (tb ? b(j, i) : b(i, j));
        return alpha * sum + beta * before(r, j);
      },
      test::kRounding<T> * std::max(1, k));
}

TYPED_TEST(Gemm, EqualsThreeLoopsOnWindows) {
  for (const Op a : {Op::none, Op::transpose})
    for (const Op b : {Op::none, Op::transpose})
      for (const auto& [m, n, k] :
           {std::array{1, 1, 1}, {3, 5, 2}, {1, 17, 9}, {33, 1, 12}, {20, 31, 64}, {70, 9, 65}}) {
        check<TypeParam>(m, n, k, a, b, 1, 0);
        check<TypeParam>(m, n, k, a, b, 0.5, 1);
        check<TypeParam>(m, n, k, a, b, -2, 0.25);
      }
}

TYPED_TEST(Gemm, NothingToDoIsFine) {
  check<TypeParam>(0, 4, 3, Op::none, Op::none, 1, 0);
  check<TypeParam>(4, 0, 3, Op::none, Op::transpose, 1, 0);
  check<TypeParam>(2, 3, 0, Op::none, Op::none, 1, 1);  // an empty sum leaves beta C
}

}  // namespace
}  // namespace heed
