#include "inspect/bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/pool.h"
#include "data/dataset.h"
#include "math/blas.h"
#include "nn/flops.h"
#include "train/stepper.h"

namespace heed {
namespace {

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  std::sort(x.begin(), x.end());
  const std::size_t n = x.size();
  return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

double peak_rss_mib() {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

double step_flops(const Transformer& model, const StepBatch& batch) {
  double sum = 0;
  for (std::size_t s = 0; s < batch.shards.size(); ++s)
    for (int i = 0; i < batch.used[s]; ++i) sum += training_flops(model, batch.shards[s][i]);
  return sum;
}

// GFLOP/s of 2048 x 2048 products, one per thread at a time, summed over the threads. The median
// over `seconds` seconds.
double measure_sgemm(int threads, double seconds) {
  constexpr int n = 2048;
  constexpr std::size_t size = static_cast<std::size_t>(n) * n;
  Pool pool(threads);
  std::vector<std::unique_ptr<float[]>> memory(threads);
  for (auto& m : memory) {
    m = std::make_unique<float[]>(3 * size);
    std::fill(m.get(), m.get() + 3 * size, 0.5f);
  }
  std::vector<double> rates;
  for (const double begin = seconds_now(); rates.size() < 3 || seconds_now() - begin < seconds;) {
    std::vector<double> rate(threads);
    pool.run(threads, [&](int task, int) {
      float* m = memory[task].get();
      const double start = seconds_now();
      gemm<float>(1.0f, as_is(Mat<const float>{m, n, n}), as_is(Mat<const float>{m + size, n, n}),
                  0.0f, Mat<float>{m + 2 * size, n, n});
      rate[task] = 2.0 * n * n * n / (seconds_now() - start) * 1e-9;
    });
    double sum = 0;
    for (double r : rate) sum += r;
    rates.push_back(sum);
  }
  return median(rates);
}

}  // namespace

BenchResult run_bench(const RunConfig& config, const std::string& folder, std::int64_t steps,
                      int threads) {
  constexpr int kWarmUp = 3;
  constexpr double kSeconds = 6.0;
  BenchResult result;
  result.threads = threads;
  {
    Tokenizers tokenizers;
    const Dataset data = load_dataset(config, folder, tokenizers);
    const Transformer model(config.model, tokenizers.source().size(), tokenizers.target->size());
    const auto objective = make_objective(config);
    Pool pool(threads);
    Stepper stepper(config, model, *objective, data.train, pool);
    State state;
    for (int i = 0; i < kWarmUp; ++i) stepper.step(state);
    stepper.gradients().enable_profile();
    std::vector<double> times, rates, speeds;
    double flops = 0;
    const double begin = seconds_now();
    while (steps > 0 ? result.steps < steps
                     : result.steps < 5 || seconds_now() - begin < kSeconds) {
      const double start = seconds_now();
      const StepResult step = stepper.step(state);
      const double seconds = seconds_now() - start;
      const double f = step_flops(model, stepper.last_batch());
      times.push_back(seconds);
      rates.push_back(static_cast<double>(step.tokens) / seconds);
      speeds.push_back(f / seconds);
      flops += f;
      result.wall_seconds += seconds;
      ++result.steps;
    }
    result.tokens_per_second = median(rates);
    result.steps_per_second = 1.0 / median(times);
    result.gflop_per_step = flops / static_cast<double>(result.steps) * 1e-9;
    result.gflops = median(speeds) * 1e-9;
    result.profile = stepper.gradients().profile();
    std::uint64_t busy = 0;
    for (std::uint64_t ns : result.profile.ns) busy += ns;
    const auto all = static_cast<std::uint64_t>(result.wall_seconds * 1e9 *
                                                std::min(threads, available_cores()));
    result.profile.ns[static_cast<int>(Work::waiting)] = all > busy ? all - busy : 0;
    result.peak_rss_mib = peak_rss_mib();
  }
  result.sgemm_gflops = measure_sgemm(std::min(threads, available_cores()), 3.0);
  result.utilisation = result.gflops / result.sgemm_gflops;
  return result;
}

}  // namespace heed
