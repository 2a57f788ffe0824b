#include "train/speed.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/profile.h"
#include "base/std_names.h"
#include "data/batcher.h"
#include "math/blas.h"
#include "step/stepper.h"
#include "train/ranks.h"

namespace heed {
namespace {

// Not moved by the few that something else on the machine delayed. Of at least one.
double median(vector<double> x) {
  ranges::sort(x);
  const size_t n = x.size();
  return 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}

}  // namespace

Speed measure_speed(const PreparedRun& run, const function<bool(int64_t, double)>& enough) {
  constexpr int kWarmUp = 2;
  lead(run, Task::measure);
  const auto objective = make_objective(run.config);
  Batcher feed(*objective, run.data.train, run.config);
  Stepper stepper(run.model, step_options(run.config), run.crew, *run.products);
  Exchange& exchange = run.crew.exchange();
  Cursor cursor;
  int64_t taken = 0;
  Speed sums;  // of the steps measured
  vector<double> seconds, message_seconds;
  const double begin = seconds_now();
  bool end = false;
  for (int step = 1 - kWarmUp; !end; ++step) {
    if (step == 1) {
      sums = {};
      seconds.clear();
      message_seconds.clear();
      for (auto& ns : work_ns) ns = 0;
      profiling = true;
    }
    const double from = seconds_now();
    const double sent = double(exchange.sent()), waited = exchange.waited();
    const StepBatch& batch = feed.batch(taken + 1, cursor);
    const StepResult result = stepper.gradient(taken + 1, batch, [&feed] { feed.fill_next(); });
    if (result.finite) {
      stepper.update(result);
      cursor = feed.after();
      ++taken;
    }
    seconds.push_back(seconds_now() - from);
    message_seconds.push_back(exchange.waited() - waited);
    sums.tokens += double(result.tokens);
    for (size_t s = 0; s < batch.shards.size(); ++s)
      for (int i = 0; i < batch.used[s]; ++i)
        sums.flops += training_flops(run.model, batch.shards[s][i]);
    sums.bytes_sent += double(exchange.sent()) - sent;
    end = !result.finite || enough(step, seconds_now() - begin);
    exchange.share(end);
  }
  profiling = false;
  const auto n = double(seconds.size());
  Speed speed{.steps = ssize(seconds),
              .step_seconds = median(seconds),
              .tokens = sums.tokens / n,
              .flops = sums.flops / n,
              .bytes_sent = run.crew.sum(sums.bytes_sent) / n,
              .step_bytes = double(stepper.gradients().step_bytes()),
              .message_seconds = median(message_seconds)};
  double rest = 1e9 * min(run.pool->threads(), available_cores()) *
                accumulate(seconds.begin(), seconds.end(), 0.0);
  for (size_t i = 0; i < work_ns.size(); ++i) {
    speed.work_ns[i] = double(work_ns[i]);
    rest -= speed.work_ns[i];
  }
  speed.work_ns[int(Work::waiting)] = max(0.0, rest);
  return speed;
}

double measure_sgemm(int threads, double seconds) {
  constexpr int n = 2048;
  constexpr size_t size = size_t(n) * n;
  Pool pool(threads);
  vector<vector<float>> memory(threads, vector<float>(3 * size, 0.5f));
  vector<double> rates;
  for (const double begin = seconds_now(); rates.size() < 3 || seconds_now() - begin < seconds;) {
    vector<double> rate(threads);
    pool.run(threads, [&](int task, int) {
      float* m = memory[task].data();
      const double start = seconds_now();
      gemm<float>(1.0f, as_is(Mat<const float>{m, n, n}), as_is(Mat<const float>{m + size, n, n}),
                  0.0f, Mat<float>{m + 2 * size, n, n});
      rate[task] = 2.0 * n * n * n / (seconds_now() - start) * 1e-9;
    });
    rates.push_back(accumulate(rate.begin(), rate.end(), 0.0));
  }
  return median(rates);
}

}  // namespace heed
