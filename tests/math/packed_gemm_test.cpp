#include "math/packed_gemm.h"

#include "math/buffer.h"

namespace heed {
namespace {

using test::Buffer;

template <class T>
class PackedGemm : public testing::Test {};
using PackedTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(PackedGemm, PackedTypes);

// C = alpha op(A) B[from, to)[0, n) + beta C, where all of op(B) is packed.
template <class T>
void check_part(int m, int n, int from, int to, Op op_a, Op op_b, double alpha, double beta) {
  constexpr int kRows = 50, kCols = 37;
  const bool ta = op_a == Op::transpose, tb = op_b == Op::transpose;
  SCOPED_TRACE(testing::Message() << m << " x " << n << ", rows of B " << from << " to " << to
                                  << " ops " << ta << tb);
  const int k = to - from;
  const auto a = Buffer<T>::random(ta ? k : m, ta ? m : k, 1);
  const auto b = Buffer<T>::random(tb ? kCols : kRows, tb ? kRows : kCols, 2);
  const auto before = Buffer<T>::random(m, n, 3);
  Buffer<T> c = before;
  if (beta == 0) c.fill(std::numeric_limits<T>::quiet_NaN());  // overwritten, not multiplied by 0
  Workspace workspace;
  const PackedOperand<T> packed = pack(Operand<T>{b.view(), op_b}, workspace);
  gemm(static_cast<T>(alpha), Operand<T>{a.view(), op_a}, packed.row_range(from, to).col_range(n),
       static_cast<T>(beta), c.mat());
  test::expect_near(
      c,
      [&](int r, int j) {
        double sum = 0;
        for (int i = 0; i < k; ++i)
          sum +=
              static_cast<double>(ta ? a(i, r) : a(r, i)) * (tb ? b(j, from + i) : b(from + i, j));
        return alpha * sum + beta * before(r, j);
      },
      test::kRounding<T> * std::max(1, k));
}

TYPED_TEST(PackedGemm, EqualsThreeLoopsOnPartsOfAWindow) {
  for (const Op a : {Op::none, Op::transpose})
    for (const Op b : {Op::none, Op::transpose})
      for (int m = 1; m <= 13; ++m)  // rows of C go by six
        for (const auto& [n, from, to] :
             {std::array{1, 0, 50}, {7, 3, 4}, {16, 0, 31}, {17, 9, 50}, {37, 20, 20}}) {
          check_part<TypeParam>(m, n, from, to, a, b, 1, 0);
          check_part<TypeParam>(m, n, from, to, a, b, 0.5, 1);
          check_part<TypeParam>(m, n, from, to, a, b, -2, 0.25);
        }
}

TYPED_TEST(PackedGemm, ColumnsBeyondTheLastAreZero) {
  using T = TypeParam;
  const auto a = Buffer<T>::random(3, 12, 1), b = Buffer<T>::random(12, 5, 2),
             b_t = Buffer<T>::random(5, 12, 2);
  for (const Operand<T>& factor : {as_is(b.view()), transposed(b_t.view())}) {
    Workspace workspace;
    std::fill_n(workspace.matrix<T>(64, 64).data, 64 * 64, std::numeric_limits<T>::quiet_NaN());
    workspace.rewind();  // the packing buffer is not fresh
    Buffer<T> c(3, 8);
    c.fill(T{9});
    gemm(T{1}, as_is(a.view()), pack(factor, workspace).col_range(8), T{0}, c.mat());
    for (int r = 0; r < 3; ++r)
      for (int j = 5; j < 8; ++j) EXPECT_EQ(c(r, j), 0);
  }
}

}  // namespace
}  // namespace heed
