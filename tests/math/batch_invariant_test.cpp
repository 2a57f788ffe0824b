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

TYPED_TEST(RowKernel, AttentionIsSoftmaxTimesValues) {
  using T = TypeParam;
  for (int keys : {1, 2, 5, 8, 40})
    for (int d : {1, 4, 6, 16})
      for (const auto& [heads, kv_heads] : {std::pair{1, 1}, {3, 3}, {4, 2}, {3, 1}})
        for (bool uniform : {false, true}) {
          const auto q = Buffer<T>::random(1, heads * d, 1, 2);
          const auto k = Buffer<T>::random(keys, kv_heads * d, 2, 2);
          const auto v = Buffer<T>::random(keys, kv_heads * d, 3);
          const double scale = 0.7;
          const auto first = [&, n = heads, kv = kv_heads](int h) { return h * kv / n * d; };
          const auto weight = [&](int h, int j) {
            double score = 0;
            for (int c = 0; c < d; ++c)
              score += static_cast<double>(q(0, h * d + c)) * k(j, first(h) + c);
            return uniform ? 1.0 : std::exp(scale * score);
          };
          const auto share = [&](int h, int j) {
            double sum = 0;
            for (int i = 0; i < keys; ++i) sum += weight(h, i);
            return weight(h, j) / sum;
          };
          Buffer<T> out(1, heads * d);
          std::vector<T> weights(static_cast<std::size_t>(heads) * keys);
          batch_invariant_attention<T>({heads, q.view(), k.view(), v.view(), out.mat(),
                                        weights.data(), static_cast<T>(scale), false, uniform});
          const double tolerance = 20 * test::kRounding<T>;
          for (int h = 0; h < heads; ++h)
            for (int j = 0; j < keys; ++j)
              ASSERT_NEAR(weights[h * keys + j], share(h, j), tolerance);
          test::expect_near(
              out,
              [&](int, int c) {
                double o = 0;
                for (int j = 0; j < keys; ++j) o += share(c / d, j) * v(j, first(c / d) + c % d);
                return o;
              },
              tolerance);
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
