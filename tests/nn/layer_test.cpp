// The one test that every layer goes through; nn/layer_rows.h lists them.
#include <gtest/gtest.h>

#include <numeric>
#include <tuple>

#include "nn/layer_rows.h"
#include "show/gradient_check.h"

namespace heed {
namespace {

using namespace test;

class Layer : public testing::TestWithParam<std::tuple<LayerRow, bool>> {
 protected:
  Layer() : row_(std::get<0>(GetParam())), layer_(row_.make()) {
    std::vector<int> everyone(row_.lengths.size());
    std::iota(everyone.begin(), everyone.end(), 0);
    all_ = only(everyone);
    while (corner() < 10 * kGradientStep) ++all_.seed;
    numbers_ = numbers_of(all_);
  }
  Sequences only(std::vector<int> numbers) const {
    return {std::move(numbers), row_.lengths, row_.memory_lengths, std::get<1>(GetParam()),
            all_.seed};
  }
  Numbers numbers_of(const Sequences& s) const {
    return {layer_values(layer_->table, s.seed), s.numbers_for(kWidth, Sequences::kX),
            s.numbers_for(kWidth, Sequences::kMemory)};
  }
  double corner() const {
    const Numbers n = numbers_of(all_);
    const Packed rows = all_.rows(false), memory_rows = all_.rows(true);
    ParamVec<double> values(layer_->table.size());
    std::copy(n.values.begin(), n.values.end(), values.data());
    Workspace workspace;
    Pass<double> pass{.values = values, .workspace = workspace};
    return layer_->distance_to_corner(pass, {{n.x.data(), rows.count(), kWidth},
                                             rows,
                                             {n.memory.data(), memory_rows.count(), kWidth},
                                             memory_rows});
  }
  // body(name, offset in gradients, size) for every tensor of the layer.
  template <class Body>
  void for_tensors(Body&& body) const {
    for (const ParamInfo& info : layer_->table.infos())
      body(info.name, info.param.offset, info.param.size());
  }

  LayerRow row_;
  std::unique_ptr<AnyLayer> layer_;
  Sequences all_;
  Numbers numbers_;
  Workspace workspace_;  // one for all: allocating them takes most of the time under sanitizers
};

template <class V>
double largest(const V& v, std::size_t begin, std::size_t end) {
  double m = 0;
  for (std::size_t i = begin; i < end; ++i) m = std::max(m, std::abs(static_cast<double>(v[i])));
  return m;
}

TEST_P(Layer, GradientsEqualCentralDifferences) {
  const Result<double> r = run_layer<double>(workspace_, *layer_, all_, numbers_, true);
  const std::vector<double> dy = all_.numbers_for(r.y_cols, Sequences::kDy);
  Numbers moved = numbers_;
  const auto objective = [&] {
    const auto y = run_layer<double>(workspace_, *layer_, all_, moved, false).y;
    return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
  };
  const double all =
      std::max({largest(r.gradients, 0, r.gradients.size()), largest(r.dx, 0, r.dx.size()),
                largest(r.dmemory, 0, r.dmemory.size())});
  ASSERT_GT(all, 0);
  double terms = 0;
  for (std::size_t i = 0; i < dy.size(); ++i) terms += std::abs(r.y[i] * dy[i]);
  const double noise = rounding_noise(terms);
  const auto check = [&](const std::string& name, const std::vector<double>& analytic,
                         std::vector<double>& at, std::size_t begin, std::size_t size) {
    const double floor = gradient_floor(std::span(analytic).subspan(begin, size), all, noise);
    for (std::size_t i = begin; i < begin + size; ++i) {
      const double numeric = central_difference(at[i], objective);
      ASSERT_LE(gradient_error(analytic[i], numeric, floor), kGradientTolerance)
          << name << "[" << i - begin << "]: analytic " << analytic[i] << ", numeric " << numeric;
    }
  };
  for_tensors([&](const std::string& name, std::size_t begin, std::size_t size) {
    check(name, r.gradients, moved.values, begin, size);
  });
  check("x", r.dx, moved.x, 0, moved.x.size());
  check("memory", r.dmemory, moved.memory, 0, moved.memory.size());
}

TEST_P(Layer, BackwardAdds) {
  const Result<double> from0 = run_layer<double>(workspace_, *layer_, all_, numbers_, true, 0.0);
  const Result<double> from1 = run_layer<double>(workspace_, *layer_, all_, numbers_, true, 1.0);
  const auto check = [](const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i] - 1, 1e-13 * (1 + std::abs(b[i]))) << i;
  };
  check(from0.gradients, from1.gradients);
  check(from0.dx, from1.dx);
  check(from0.dmemory, from1.dmemory);
}

TEST_P(Layer, FloatIsNearDouble) {
  const auto f = run_layer<float>(workspace_, *layer_, all_, numbers_, true);
  const auto d = run_layer<double>(workspace_, *layer_, all_, numbers_, true);
  const auto check = [](const std::string& name, const auto& a, const auto& b, std::size_t begin,
                        std::size_t size, double floor) {
    const double scale = std::max(largest(b, begin, begin + size), floor);
    for (std::size_t i = begin; i < begin + size; ++i)
      ASSERT_NEAR(a[i], b[i], 1e-5 * scale) << name << "[" << i - begin << "]";
  };
  const double all = largest(d.gradients, 0, d.gradients.size());
  check("y", f.y, d.y, 0, d.y.size(), 0);
  check("dx", f.dx, d.dx, 0, d.dx.size(), 0);
  check("dmemory", f.dmemory, d.dmemory, 0, d.dmemory.size(), 0);
  for_tensors([&](const std::string& name, std::size_t begin, std::size_t size) {
    const bool is_zero = largest(d.gradients, begin, begin + size) < 1e-12 * all;  // a key bias
    check(name, f.gradients, d.gradients, begin, size, is_zero ? all : 0);
  });
}

TEST_P(Layer, ASequenceDoesNotSeeItsNeighbours) {
  const auto packed = run_layer<double>(workspace_, *layer_, all_, numbers_, true);
  std::vector<double> gradients(packed.gradients.size());
  std::size_t row = 0, memory_row = 0;
  const auto check = [](const std::vector<double>& all, std::size_t first,
                        const std::vector<double>& alone, const char* name) {
    for (std::size_t i = 0; i < alone.size(); ++i)
      ASSERT_NEAR(all[first + i], alone[i], 1e-12 * (1 + std::abs(alone[i]))) << name;
  };
  for (std::size_t number = 0; number < row_.lengths.size(); ++number) {
    const Sequences s = only({static_cast<int>(number)});
    const auto alone = run_layer<double>(workspace_, *layer_, s, numbers_of(s), true);
    check(packed.y, row * packed.y_cols, alone.y, "y");
    check(packed.dx, row * kWidth, alone.dx, "dx");
    check(packed.dmemory, memory_row * kWidth, alone.dmemory, "dmemory");
    for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] += alone.gradients[i];
    row += row_.lengths[number];
    memory_row += row_.memory_lengths[number];
  }
  check(packed.gradients, 0, gradients, "gradients");
}

INSTANTIATE_TEST_SUITE_P(Every, Layer,
                         testing::Combine(testing::ValuesIn(layer_rows()), testing::Bool()),
                         [](const auto& test) {
                           return std::get<0>(test.param).name +
                                  (std::get<1>(test.param) ? "_dropout" : "");
                         });

}  // namespace

namespace test {
void PrintTo(const LayerRow& row, std::ostream* out) {
  *out << row.name;
}
}  // namespace test

}  // namespace heed
