#include "math/products.h"

#include <cstring>

#include "math/buffer.h"

namespace heed {
namespace {

using test::Buffer;
using Numbers = Buffer<float>;

// Eight bits, to nearest even.
double rounded(float x) {
  int exponent = 0;
  if (!std::isfinite(x) || x == 0) return x;
  std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(x), 8 - exponent)), exponent - 8);
}

bool same_bits(const Numbers& a, const Numbers& b) {
  for (int r = 0; r < a.rows(); ++r)
    if (std::memcmp(a.view().row(r), b.view().row(r), a.cols() * sizeof(float)) != 0) return false;
  return true;
}

// What a product adds to `before`: the sum over k of rounded a(k) b(k), with room for the errors of
// a float32 sum.
struct Sum {
  double sum, size;
  explicit Sum(float before) : sum(before), size(std::abs(before)) {}
  void add(float a, float b) {
    sum += rounded(a) * rounded(b);
    size += std::abs(rounded(a) * rounded(b));
  }
  void expect(float found) const { ASSERT_NEAR(found, sum, std::ldexp(size, -18)); }
};

// With the module, if there is one, and without.
class Bfloat16 : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<Products<float>> products_ = bfloat16_products(GetParam());

  // `kept`: with weights that weights_changed() has seen.
  void check(int rows, int in, int out, bool with_bias, bool kept = false) {
    SCOPED_TRACE(testing::Message() << rows << " rows, " << in << " to " << out << ", " << kept);
    auto w = Numbers::random(out, in, 2, 1.0, 0);
    Pool pool(1);
    if (kept) products_->weights_changed(w.mat().data, std::size_t{1} * out * in, pool);
    const auto x = Numbers::random(rows, in, 1), b = Numbers::random(1, out, 3),
               dy = Numbers::random(rows, out, 4), dx_before = Numbers::random(rows, in, 5),
               dw_before = Numbers::random(out, in, 6);
    Numbers y(rows, out), dx = dx_before, dw = dw_before;
    y.fill(std::numeric_limits<float>::quiet_NaN());
    products_->forward(x.view(), w.view(), with_bias ? b.view() : Mat<const float>(), y.mat());
    products_->backward(dy.view(), x.view(), w.view(), dw.mat(), dx.mat());
    for (int r = 0; r < rows; ++r)
      for (int o = 0; o < out; ++o) {
        Sum sum(with_bias ? b(0, o) : 0.0f);
        for (int i = 0; i < in; ++i) sum.add(x(r, i), w(o, i));
        sum.expect(y(r, o));
      }
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i < in; ++i) {
        Sum sum(dx_before(r, i));
        for (int o = 0; o < out; ++o) sum.add(dy(r, o), w(o, i));
        sum.expect(dx(r, i));
      }
    for (int o = 0; o < out; ++o)
      for (int i = 0; i < in; ++i) {
        Sum sum(dw_before(o, i));
        for (int r = 0; r < rows; ++r) sum.add(dy(r, o), x(r, i));
        sum.expect(dw(o, i));
      }
    products_->weights_changed(nullptr, 0, pool);
    for (const Numbers* all : {&y, &dx, &dw}) EXPECT_TRUE(all->padding_untouched());
  }
};
INSTANTIATE_TEST_SUITE_P(Products, Bfloat16, testing::Bool(),
                         [](const auto& test) { return test.param ? "Module" : "Floats"; });

TEST_P(Bfloat16, SumsOfRoundedNumbers) {
  for (const bool kept : {false, true})
    for (int k = 1; k <= 70; ++k) check(1 + k * 7 % 67, k, 1 + k * 5 % 71, k % 2 == 0, kept);
  check(64, 128, 96, true);
  check(130, 64, 200, false);
  check(1, 300, 65, true);
  check(70, 300, 433, true, true);
}

TEST_P(Bfloat16, ARowOfNaNStaysAlone) {
  const auto w = Numbers::random(40, 50, 2);
  auto x = Numbers::random(70, 50, 1), dy = Numbers::random(70, 40, 4);
  Numbers y(70, 40), ruined = y, dx(70, 50), dx_ruined = dx, dw(40, 50);
  products_->forward(x.view(), w.view(), {}, y.mat());
  products_->backward(dy.view(), x.view(), w.view(), dw.mat(), dx.mat());
  for (const int row : {3, 69}) {
    for (int i = 0; i < 50; ++i) x(row, i) = std::numeric_limits<float>::quiet_NaN();
    for (int i = 0; i < 40; ++i) dy(row, i) = std::numeric_limits<float>::infinity();
  }
  products_->forward(x.view(), w.view(), {}, ruined.mat());
  products_->backward(dy.view(), x.view(), w.view(), dw.mat(), dx_ruined.mat());
  for (int r = 0; r < 70; ++r) {
    const bool bad = r == 3 || r == 69;
    for (int i = 0; i < 40; ++i)
      ASSERT_TRUE(bad ? std::isnan(ruined(r, i)) : ruined(r, i) == y(r, i));
    for (int i = 0; i < 50; ++i)
      ASSERT_TRUE(bad ? !std::isfinite(dx_ruined(r, i)) : dx_ruined(r, i) == dx(r, i));
  }
}

TEST_P(Bfloat16, TheSameBitsEveryTime) {
  const auto b = Numbers::random(1, 77, 3);
  std::unique_ptr<Numbers> first[3];
  for (int i = 0; i < 200; ++i) {
    const int padding = i % 16;  // other alignments
    const auto x = Numbers::random(100, 90, 1, 1.0, padding),
               w = Numbers::random(77, 90, 2, 1.0, padding / 2),
               dy = Numbers::random(100, 77, 4, 1.0, padding);
    Numbers y(100, 77, padding), dx(100, 90, padding), dw(77, 90, padding);
    products_->forward(x.view(), w.view(), b.view(), y.mat());
    products_->backward(dy.view(), x.view(), w.view(), dw.mat(), dx.mat());
    const Numbers* found[] = {&y, &dx, &dw};
    for (int j = 0; j < 3; ++j) {
      if (i == 0) first[j] = std::make_unique<Numbers>(*found[j]);
      ASSERT_TRUE(same_bits(*first[j], *found[j])) << i;
    }
    if (i % 100 == 0) check(1 + i / 10, 33, 20, true);  // other shapes between them
  }
}

TEST_P(Bfloat16, WeightsAreRoundedWhenTheyChange) {
  Pool pool(2);
  auto w = Numbers::random(64, 32, 2, 1.0, 0);
  const auto x = Numbers::random(5, 32, 1);
  Numbers before(5, 64), kept(5, 64), changed(5, 64);
  products_->forward(x.view(), w.view(), {}, before.mat());
  products_->weights_changed(w.mat().data, 64 * 32, pool);
  w.fill(1);
  products_->forward(x.view(), w.view(), {}, kept.mat());
  EXPECT_TRUE(same_bits(before, kept));
  products_->weights_changed(w.mat().data, 64 * 32, pool);
  products_->forward(x.view(), w.view(), {}, changed.mat());
  EXPECT_FALSE(same_bits(before, changed));
}

}  // namespace
}  // namespace heed
