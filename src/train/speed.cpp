#include "train/speed.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "base/profile.h"
#include "data/batcher.h"
#include "math/blas.h"
#include "step/stepper.h"
#include "train/ranks.h"

namespace heed {
namespace {

double flops_of(const Transformer& model, const StepBatch& batch) {
  double sum = 0;
  for (std::size_t s = 0; s < batch.shards.size(); ++s)
    for (int i = 0; i < batch.used[s]; ++i) sum += training_flops(model, batch.shards[s][i]);
  return sum;
}

// What the steps measured took.
struct MeasuredSteps {
  std::vector<double> seconds, message_seconds;  // of each
  std::vector<double> tokens, flops;             // of each, per second
  double all_flops = 0, sent = 0;                // of all; bytes of this process
};

// The nanoseconds of all threads in these seconds, by kinds of work.
auto work_in(const std::vector<double>& seconds, int threads) {
  std::array<double, kWorkNames.size()> ns{};
  double rest = 0;
  for (const double s : seconds) rest += 1e9 * s * std::min(threads, available_cores());
  for (std::size_t i = 0; i < ns.size(); ++i) {
    ns[i] = static_cast<double>(work_ns[i]);
    rest -= ns[i];
  }
  ns[static_cast<int>(Work::waiting)] = std::max(0.0, rest);
  return ns;
}

Speed speed_of(const MeasuredSteps& steps, const Crew& crew) {
  const auto n = static_cast<double>(steps.seconds.size());
  Speed speed;
  speed.steps = static_cast<std::int64_t>(n);
  speed.step_seconds = median(steps.seconds);
  speed.message_seconds = median(steps.message_seconds);
  speed.tokens_per_second = median(steps.tokens);
  speed.flops_per_second = median(steps.flops);
  speed.flops = steps.all_flops / n;
  speed.bytes_sent = crew.sum(steps.sent) / n;
  speed.work_ns = work_in(steps.seconds, crew.pool().threads());
  return speed;
}

}  // namespace

double median(std::vector<double> x) {
  std::ranges::sort(x);
  const std::size_t n = x.size();
  return 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}

Speed measure_speed(const PreparedRun& run,
                    const std::function<bool(std::int64_t, double)>& enough) {
  constexpr int kWarmUp = 2;
  lead(run, Task::measure);
  const auto objective = make_objective(run.config);
  BatchFeed feed(*objective, run.data.train, run.config);
  Stepper stepper(run.model, step_options(run.config), run.crew, *run.products);
  Cursor cursor;
  std::int64_t taken = 0;
  MeasuredSteps steps;
  const double begin = seconds_now();
  bool end = false;
  for (int step = 1 - kWarmUp; !end; ++step) {
    if (step == 1) {
      steps = {};
      for (auto& ns : work_ns) ns = 0;
      profiling = true;
    }
    const double from = seconds_now();
    const Crew::Traffic before = run.crew.traffic();
    const StepBatch& batch = feed.batch(taken + 1, cursor);
    const StepResult result = stepper.gradient(taken + 1, batch, [&feed] { feed.fill_next(); });
    if (result.finite) {
      stepper.update(result);
      cursor = feed.after();
      ++taken;
    }
    const double seconds = seconds_now() - from, flops = flops_of(run.model, batch);
    const Crew::Traffic after = run.crew.traffic();
    steps.seconds.push_back(seconds);
    steps.message_seconds.push_back(after.seconds - before.seconds);
    steps.tokens.push_back(static_cast<double>(result.tokens) / seconds);
    steps.flops.push_back(flops / seconds);
    steps.all_flops += flops;
    steps.sent += after.bytes - before.bytes;
    end = !result.finite || enough(step, seconds_now() - begin);
    run.crew.share(end);
  }
  profiling = false;
  Speed speed = speed_of(steps, run.crew);
  speed.step_bytes = static_cast<double>(stepper.gradients().step_bytes());
  return speed;
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
