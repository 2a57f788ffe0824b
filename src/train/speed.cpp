#include "train/speed.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "base/clock.h"
#include "base/signals.h"
#include "data/batch_feed.h"
#include "math/blas.h"
#include "step/stepper.h"
#include "train/validation.h"

namespace heed {
namespace {

// Not moved by the steps that something else on the machine delayed.
double median(std::vector<double> x) {
  std::ranges::sort(x);
  const std::size_t n = x.size();
  return 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}

double flops_of(const Transformer& model, const StepBatch& batch) {
  double sum = 0;
  for (std::size_t s = 0; s < batch.shards.size(); ++s)
    for (int i = 0; i < batch.used[s]; ++i) sum += training_flops(model, batch.shards[s][i]);
  return sum;
}

}  // namespace

Speed measure_speed(const PreparedRun& run,
                    const std::function<bool(std::int64_t, double)>& enough) {
  constexpr int kWarmUp = 2;
  Exchange& exchange = *run.exchange;
  const auto objective = make_objective(run.config);
  BatchFeed feed(*objective, run.data.train, run.config);
  Stepper stepper(run.model, step_options(run.config), *run.pool, exchange);
  Cursor cursor;
  std::int64_t taken = 0;  // steps
  Speed speed;
  std::vector<double> seconds, exchanging, tokens, flops;  // of each step; the last two per second
  std::vector<double> sent(exchange.ranks());              // bytes of each rank
  double& own_sent = sent[exchange.rank()];
  const double begin = seconds_now();
  for (int step = 1 - kWarmUp;; ++step) {
    if (step == 1) {
      for (std::vector<double>* x : {&seconds, &exchanging, &tokens, &flops}) x->clear();
      speed.flops = own_sent = 0;
      for (auto& ns : work_ns) ns = 0;
      profiling = true;
    }
    const double from = seconds_now(), waited = exchange.waited();
    const std::uint64_t sent_before = exchange.sent();
    const StepBatch& batch = feed.batch(taken + 1, cursor);
    const StepResult result = stepper.gradient(taken + 1, batch, [&feed] { feed.fill_next(); });
    if (result.finite) {
      stepper.update(result);
      cursor = feed.after();
      ++taken;
    }
    seconds.push_back(seconds_now() - from);
    exchanging.push_back(exchange.waited() - waited);
    own_sent += static_cast<double>(exchange.sent() - sent_before);
    const double work = flops_of(run.model, batch);
    tokens.push_back(static_cast<double>(result.tokens) / seconds.back());
    flops.push_back(work / seconds.back());
    speed.flops += work;
    bool end = !result.finite || enough(step, seconds_now() - begin);
    exchange.share(end);
    if (end) break;
  }
  profiling = false;
  speed.steps = static_cast<std::int64_t>(seconds.size());
  speed.step_seconds = median(seconds);
  speed.exchange_seconds = median(exchanging);
  speed.tokens_per_second = median(tokens);
  speed.flops_per_second = median(flops);
  speed.flops /= static_cast<double>(speed.steps);
  exchange.gather(sent.data(), equal_parts(sent.size(), exchange.ranks()));
  speed.bytes_sent =
      std::accumulate(sent.begin(), sent.end(), 0.0) / static_cast<double>(speed.steps);
  speed.step_bytes = static_cast<double>(stepper.gradients().step_bytes());
  double rest = 0;  // in nanoseconds
  for (const double s : seconds) rest += 1e9 * s * std::min(run.pool->threads(), available_cores());
  for (std::size_t i = 0; i < work_ns.size(); ++i) {
    speed.work_ns[i] = static_cast<double>(work_ns[i]);
    rest -= speed.work_ns[i];
  }
  speed.work_ns[static_cast<int>(Work::waiting)] = std::max(0.0, rest);
  return speed;
}

double measure_validation(const PreparedRun& run, const Speed& speed, double limit) {
  if (!run.config.data.has_validation()) return 0;
  ParamVec<float> values(run.model.table.size());
  initialize(run.model.table, run.config.seed, values);
  const auto objective = make_objective(run.config);
  const double begin = seconds_now();
  const auto late = [&] { return stop_signal() != 0 || seconds_now() - begin > limit; };
  const bool whole = Validation{run, *objective}.measure(0, values, late).has_value();
  const double seconds = seconds_now() - begin;
  if (whole) return seconds;
  return std::max(seconds, speed.step_seconds * static_cast<double>(run.data.valid.target.size()) /
                               run.config.train.batch_tokens);
}

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
    rates.push_back(std::accumulate(rate.begin(), rate.end(), 0.0));
  }
  return median(rates);
}

}  // namespace heed
