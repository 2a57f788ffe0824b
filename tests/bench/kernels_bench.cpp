// Micro-benchmarks of the parts of a step. Not tests: nothing is asserted.
//   build/tests/heed_micro_bench --benchmark_filter=softmax
#include <benchmark/benchmark.h>

#include <vector>

#include "base/noise.h"
#include "math/activation.h"
#include "math/attention_head.h"
#include "math/batch_invariant.h"
#include "math/blas.h"
#include "math/dropout.h"
#include "math/normalize.h"
#include "math/softmax.h"
#include "step/optimizer.h"

namespace heed {
namespace {

struct Numbers {
  std::vector<float> data;
  Mat<float> mat;
  Numbers(int rows, int cols) : data(static_cast<std::size_t>(rows) * cols) {
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<float>(uniform01(7, i) - 0.5);
    mat = {data.data(), rows, cols};
  }
};

std::vector<std::uint64_t> row_keys(int rows) {
  std::vector<std::uint64_t> keys(rows);
  for (int r = 0; r < rows; ++r) keys[r] = hash64(r);
  return keys;
}

constexpr int kRows = 512;

void bytes(benchmark::State& state, double per_iteration) {
  state.SetBytesProcessed(static_cast<std::int64_t>(per_iteration * state.iterations()));
}

void layer_norm_forward(benchmark::State& state) {
  const int d = static_cast<int>(state.range(0));
  Numbers x(kRows, d), gain(1, d), bias(1, d), y(kRows, d), stats(kRows, 2);
  for (auto _ : state) normalize<float>({}, x.mat, gain.mat, bias.mat, y.mat, stats.mat);
  bytes(state, 8.0 * kRows * d);
}
BENCHMARK(layer_norm_forward)->Arg(128)->Arg(512);

void layer_norm_backwards(benchmark::State& state) {
  const int d = static_cast<int>(state.range(0));
  Numbers x(kRows, d), gain(1, d), bias(1, d), y(kRows, d), stats(kRows, 2), dx(kRows, d),
      dgain(1, d), dbias(1, d);
  normalize<float>({}, x.mat, gain.mat, bias.mat, y.mat, stats.mat);
  for (auto _ : state)
    normalize_backward<float>(NormType::layer, x.mat, gain.mat, stats.mat, y.mat,
                              {dx.mat, dgain.mat, dbias.mat});
  bytes(state, 16.0 * kRows * d);
}
BENCHMARK(layer_norm_backwards)->Arg(128)->Arg(512);

void activation(benchmark::State& state) {
  const int d = 2048;
  Numbers u(kRows, d), h(kRows, d);
  const auto keys = row_keys(kRows);
  const Dropout dropout{state.range(1) ? 0.1 : 0.0, keys.data(), 3};
  for (auto _ : state)
    activate<float>(static_cast<Activation>(state.range(0)), u.mat, h.mat, dropout);
  bytes(state, 8.0 * kRows * d);
}
BENCHMARK(activation)->ArgsProduct({{0, 1, 2, 3, 4}, {0, 1}})->ArgNames({"function", "dropout"});

void dropout_residual(benchmark::State& state) {
  const int d = 512;
  Numbers x(kRows, d), y(kRows, d);
  const auto keys = row_keys(kRows);
  for (auto _ : state) drop_add<float>(y.mat, x.mat, {0.1, keys.data(), 3});
  bytes(state, 12.0 * kRows * d);
}
BENCHMARK(dropout_residual);

void softmax_row(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  Numbers x(1, n);
  for (auto _ : state) softmax(x.mat.data, n, n);
  bytes(state, 4.0 * n);
}
BENCHMARK(softmax_row)->Arg(24)->Arg(64)->Arg(256);

void loss_row(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  Numbers x(1, n);
  for (auto _ : state)
    benchmark::DoNotOptimize(cross_entropy_backward(x.mat.data, n, 3, 0.1, 0.001f));
  bytes(state, 4.0 * n);
}
BENCHMARK(loss_row)->Arg(65)->Arg(8000);

// One head of one sequence with dropout, in rows of eight heads: {length, d_head, causal}.
void attention_head(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0)), d = static_cast<int>(state.range(1));
  const int width = 8 * d;
  Numbers qkv(n, 3 * width), gradient(n, 3 * width), o(n, width), p(n, padded_keys(n));
  const auto keys = row_keys(n);
  Workspace workspace;
  const auto head_of = [&](Numbers& x, int part) {
    return x.mat.col_range(part * width, part * width + d);
  };
  const AttentionHead<float> head{
      head_of(qkv, 0),     head_of(qkv, 1), head_of(qkv, 2),      p.mat, head_of(o, 0), 0.1f,
      state.range(2) != 0, false,           {0.1, keys.data(), 3}};
  for (auto _ : state) {
    head_forward(head, workspace);
    head_backward<float>(head,
                         {head.o, head_of(gradient, 0), head_of(gradient, 1), head_of(gradient, 2)},
                         workspace);
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(12e-9 * n * n * d, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(attention_head)
    ->Args({15, 32, 0})
    ->Args({24, 64, 0})
    ->Args({64, 32, 1})
    ->Args({128, 64, 0})
    ->Args({256, 64, 0})
    ->Args({256, 64, 1})
    ->Args({1024, 64, 1});

// {rows, width}: one matrix of a decoding step.
void decoding_product(benchmark::State& state) {
  const int rows = static_cast<int>(state.range(0)), d = static_cast<int>(state.range(1));
  Numbers x(rows, d), w(4 * d, d), b(1, 4 * d), y(rows, 4 * d);
  for (auto _ : state) batch_invariant_linear<float>(x.mat, w.mat, b.mat, y.mat, nullptr);
  state.counters["GFLOP/s"] =
      benchmark::Counter(8e-9 * rows * d * d, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(decoding_product)->ArgsProduct({{1, 4, 64}, {256, 512}});

void adam(benchmark::State& state) {
  ParamTable table;
  table.add_matrix("w", 1024, 1024, {Initializer::normal, 0.02});
  ParamVec<float> values(table.size()), gradients(table.size());
  Optimizer<float> optimizer(table, {});
  Pool pool(1);
  std::int64_t step = 0;
  for (auto _ : state) optimizer.step(pool, {++step, 1e-3}, values, gradients);
  bytes(state, 28.0 * static_cast<double>(table.size()));
}
BENCHMARK(adam);

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  heed::prepare_blas();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
