#include "math/batch_invariant.h"

#include <algorithm>
#include <memory>

#include "math/buffer.h"

namespace heed {
namespace {

using test::Buffer;

template <class T>
class RowKernel : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(RowKernel, Types);

TYPED_TEST(RowKernel, CloseToTheObviousLoop) {
  using T = TypeParam;
  for (int in : {1, 3, 4, 7, 8, 13, 100})
    for (int out : {1, 2, 3, 8, 11, 33})
      for (int rows : {1, 3, 4, 9}) {
        const auto x = Buffer<T>::random(rows, in, 1), w = Buffer<T>::random(out, in, 2);
        const auto b = Buffer<T>::random(1, out, 3);
        for (bool bias : {true, false}) {
          Buffer<T> y(rows, out);
          batch_invariant_linear(x.view(), w.view(), bias ? b.view() : Mat<const T>(), y.mat(),
                                 nullptr);
          test::expect_near(
              y,
              [&](int r, int j) {
                double sum = bias ? b(0, j) : 0.0;
                for (int c = 0; c < in; ++c) sum += static_cast<double>(x(r, c)) * w(j, c);
                return sum;
              },
              test::kRounding<T> * std::max(1, in));
        }
      }
}

// The promise of decoding: the bits of a row depend neither on the other rows nor on the threads.
TYPED_TEST(RowKernel, ARowHasTheSameBitsInAnyBatchAndOnAnyThreads) {
  using T = TypeParam;
  std::unique_ptr<Pool> pools[] = {nullptr, std::make_unique<Pool>(1), std::make_unique<Pool>(2),
                                   std::make_unique<Pool>(3)};
  for (int in : {1, 7, 8, 12, 31, 64, 129})
    for (int out : {1, 2, 5, 8, 24, 131, 300}) {
      const auto all = Buffer<T>::random(64, in, 1), w = Buffer<T>::random(out, in, 2);
      const auto b = Buffer<T>::random(1, out, 3);
      Buffer<T> alone(64, out);
      for (int r = 0; r < 64; ++r)
        batch_invariant_linear(all.view().row_range(r, r + 1), w.view(), b.view(),
                               alone.mat().row_range(r, r + 1), nullptr);
      for (int rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 64})
        for (const auto& pool : pools) {
          const int first = (64 - rows) / 2;
          Buffer<T> y(rows, out, 1);
          batch_invariant_linear(all.view().row_range(first, first + rows), w.view(), b.view(),
                                 y.mat(), pool.get());
          for (int r = 0; r < rows; ++r)
            for (int j = 0; j < out; ++j)
              ASSERT_EQ(y(r, j), alone(first + r, j))
                  << rows << " rows, in " << in << ", out " << out << ", row " << r << ", column "
                  << j << ", threads " << (pool ? pool->threads() : 0);
          ASSERT_TRUE(y.padding_untouched());
        }
    }
}

// Workers keep their weights in different places; the bits must not depend on it.
TYPED_TEST(RowKernel, AttentionHasTheSameBitsAtAnyAddress) {
  using T = TypeParam;
  const int keys = 37, d = 13;
  const auto q = Buffer<T>::random(1, d, 1), k = Buffer<T>::random(keys, d, 2);
  const auto v = Buffer<T>::random(keys, d, 3);
  std::vector<T> first;
  std::vector<T> memory(keys + d + 64);
  for (int shift = 0; shift < 16; ++shift) {
    T *weights = memory.data() + shift, *out = weights + keys + shift;
    batch_invariant_attention<T>(
        {1, q.view(), k.view(), v.view(), {out, 1, d}, weights, T{0.5}, false, false});
    if (shift == 0) first.assign(out, out + d);
    EXPECT_EQ(first, std::vector<T>(out, out + d)) << "shift " << shift;
  }
}

}  // namespace
}  // namespace heed
