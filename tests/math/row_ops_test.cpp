// Plain passes and dropout; activations, norm, softmax and the loss have files of their own.
#include "math/row_ops.h"
#include "math/dropout.h"

#include "math/buffer.h"

namespace heed {
namespace {

using test::Buffer;
using test::kRounding;

template <class T>
class RowPass : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(RowPass, Types);

TYPED_TEST(RowPass, ColumnSumsAreAdded) {
  using T = TypeParam;
  for (int rows : {0, 1, 3, 4, 9}) {
    const auto x = Buffer<T>::random(rows, 11, 1), before = Buffer<T>::random(1, 11, 2);
    Buffer<T> sums = before;
    add_column_sums(x.view(), sums.mat());
    test::expect_near(
        sums,
        [&](int, int c) {
          double sum = before(0, c);
          for (int r = 0; r < rows; ++r) sum += x(r, c);
          return sum;
        },
        kRounding<T> * 9);
  }
}

// ---- dropout ----

std::vector<std::uint64_t> row_keys(int rows, std::uint64_t sequence = 7) {
  std::vector<std::uint64_t> keys;
  for (int r = 0; r < rows; ++r) keys.push_back(combine(sequence, r));
  return keys;
}

// What dropout makes of ones.
template <class T>
Buffer<T> mask(int rows, int cols, const Dropout& d) {
  Buffer<T> ones(rows, cols), x(rows, cols);
  ones.fill(T{1});
  drop(ones.view(), x.mat(), d);
  return x;
}

TYPED_TEST(RowPass, DropoutKeepsItsRateAndScalesTheRest) {
  using T = TypeParam;
  const int rows = 300, cols = 401;
  const auto keys = row_keys(rows);
  for (double rate : {0.01, 0.1, 0.3, 0.5, 0.9}) {
    const auto m = mask<T>(rows, cols, {rate, keys.data(), 3});
    int dropped = 0;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) {
        if (m(r, c) == 0)
          ++dropped;
        else
          ASSERT_EQ(m(r, c), static_cast<T>(1 / (1 - rate)));
      }
    const double n = rows * cols, deviation = std::sqrt(n * rate * (1 - rate));
    EXPECT_NEAR(dropped, n * rate, 5 * deviation) << rate;
  }
}

// Correlation of two masks of the same size.
double correlation(const Buffer<float>& a, const Buffer<float>& b, double rate) {
  double sum = 0;
  for (int r = 0; r < a.rows(); ++r)
    for (int c = 0; c < a.cols(); ++c) sum += ((a(r, c) == 0) - rate) * ((b(r, c) == 0) - rate);
  return sum / (a.rows() * a.cols() * rate * (1 - rate));
}

TEST(DropoutMask, RowsColumnsSitesAndSequencesAreIndependent) {
  const int rows = 256, cols = 512;
  const double rate = 0.3, limit = 5 / std::sqrt(rows * cols);
  const auto keys = row_keys(rows + 8);
  const auto at = [&](const std::vector<std::uint64_t>& k, int row, std::uint64_t site) {
    return mask<float>(rows, cols, {rate, k.data() + row, site});
  };
  const auto base = at(keys, 0, 11);
  EXPECT_NEAR(correlation(base, base, rate), 1, 0.02);
  for (int lag : {1, 2, 3, 8})
    EXPECT_LT(std::abs(correlation(base, at(keys, lag, 11), rate)), limit);
  for (std::uint64_t site : {10, 12, 13, 11 + (1 << 16)})
    EXPECT_LT(std::abs(correlation(base, at(keys, 0, site), rate)), limit) << site;
  EXPECT_LT(std::abs(correlation(base, at(row_keys(rows, 8), 0, 11), rate)), limit);
  for (int lag : {1, 2, 4, 16, 64, 256}) {
    Buffer<float> moved(rows, cols);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) moved(r, c) = base(r, (c + lag) % cols);
    EXPECT_LT(std::abs(correlation(base, moved, rate)), limit) << "columns, lag " << lag;
  }
}

TYPED_TEST(RowPass, DroppedNanStaysNan) {
  const auto keys = row_keys(1);
  Buffer<TypeParam> nan(1, 64), x(1, 64);
  nan.fill(std::numeric_limits<TypeParam>::quiet_NaN());
  drop(nan.view(), x.mat(), {0.5, keys.data(), 1});
  for (int c = 0; c < 64; ++c) EXPECT_TRUE(std::isnan(x(0, c)));
}

}  // namespace
}  // namespace heed
