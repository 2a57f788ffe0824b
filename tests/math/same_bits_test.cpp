// Decoding promises the same bits for a row alone and in any batch. So no kernel it uses may depend
// on the address of its rows: compilers treat the first and last numbers of a row differently from
// the rest.
#include <functional>

#include "math/activation.h"
#include "math/buffer.h"
#include "math/dropout.h"
#include "math/normalize.h"
#include "math/row_ops.h"
#include "math/softmax.h"

namespace heed {
namespace {

using test::Buffer;

template <class T>
class SameBits : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SameBits, Types);

// pass(x, y) on the same row many times over, at all alignments.
template <class T>
void expect_same_bits(const char* what, int n,
                      const std::function<void(Mat<const T>, Mat<T>)>& pass) {
  constexpr int kRows = 9;
  for (int trial = 0; trial < 20; ++trial) {
    const auto row = Buffer<T>::random(1, n, trial, 3);
    std::vector<T> first;
    for (int shift = 0; shift < 4; ++shift)
      for (int padding : {0, 1, 2, 3, 8}) {
        const int stride = n + padding;
        std::vector<T> x(kRows * stride + shift), y(kRows * stride + 2 * shift);
        const Mat<T> from{x.data() + shift, kRows, n, stride},
            to{y.data() + 2 * shift, kRows, n, stride};
        for (int r = 0; r < kRows; ++r)
          for (int c = 0; c < n; ++c) from(r, c) = to(r, c) = row(0, c);
        pass(from, to);
        if (first.empty()) first.assign(to.row(0), to.row(0) + n);
        for (int r = 0; r < kRows; ++r)
          ASSERT_EQ(std::vector<T>(to.row(r), to.row(r) + n), first)
              << what << ", " << n << " columns, row " << r << ", stride " << stride << ", shift "
              << shift;
      }
  }
}

TYPED_TEST(SameBits, WhereverARowLies) {
  using T = TypeParam;
  for (int n : {4, 8, 12, 24, 36, 64, 100}) {
    const auto gain = Buffer<T>::random(1, n, 1), bias = Buffer<T>::random(1, n, 2);
    for (const NormType type : {NormType::layer, NormType::rms})
      expect_same_bits<T>("normalize", n, [&](Mat<const T> x, Mat<T> y) {
        Buffer<T> stats(x.rows, 2);
        normalize({type}, x, gain.view(), bias.view(), y, stats.mat());
      });
    for (const Activation f : {Activation::relu, Activation::gelu, Activation::silu,
                               Activation::relu2, Activation::gelu_tanh})
      expect_same_bits<T>("activate", n,
                          [&](Mat<const T> x, Mat<T> y) { activate(f, x, y, Dropout{}); });
    expect_same_bits<T>("drop_add", n,
                        [&](Mat<const T> x, Mat<T> y) { drop_add(y, x, Dropout{}); });
    expect_same_bits<T>("softmax", n, [&](Mat<const T>, Mat<T> y) {
      for (int r = 0; r < y.rows; ++r) softmax(y.row(r), n - 1, n);
    });
  }
}

// Which version of a loop runs depends on whether the table is close to the rows in memory.
TYPED_TEST(SameBits, RotateWhereverItsTableLies) {
  using T = TypeParam;
  for (int d_head : {2, 4, 8, 12}) {
    const int heads = 2, cols = heads * d_head;
    for (int trial = 0; trial < 40; ++trial) {
      const auto row = Buffer<T>::random(1, cols, trial), angles = Buffer<T>::random(1, d_head, 7);
      std::vector<T> first;
      for (int gap = 0; gap < 40; ++gap) {
        std::vector<T> memory(d_head + gap + cols);
        T *table = memory.data(), *x = table + d_head + gap;
        std::copy_n(angles.view().data, d_head, table);
        std::copy_n(row.view().data, cols, x);
        const int position = 0;
        rotate<T>({x, 1, cols}, heads, Angles<T>{Mat<const T>{table, 1, d_head}}, &position, T{1});
        if (first.empty()) first.assign(x, x + cols);
        ASSERT_EQ(std::vector<T>(x, x + cols), first) << d_head << " columns, gap " << gap;
      }
    }
  }
}

}  // namespace
}  // namespace heed
