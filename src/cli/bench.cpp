// heed bench CONFIG, TEXT or RUN
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "base/std_names.h"
#include "cli/command.h"
#include "cli/output.h"
#include "train/speed.h"
#include "train/suggested_config.h"

namespace heed {
namespace {

constexpr int kMinutes = 5;

Json bench_json(const PreparedRun& run, const Speed& speed) {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const int threads = run.pool->threads();
  const double peak = measure_sgemm(min(threads, available_cores()), 3.0),
               reached = speed.flops / speed.step_seconds * 1e-9;
  const double steps = double(run.plan.steps);
  Json r{{"tokens_per_second", speed.tokens / speed.step_seconds},
         {"steps_per_second", 1 / speed.step_seconds},
         {"gflop_per_step", speed.flops * 1e-9},
         {"gflops", reached},
         {"sgemm_gflops", peak},
         {"utilisation", reached / peak},
         {"peak_rss_mib", double(usage.ru_maxrss) / 1024.0},
         {"steps", speed.steps},
         {"threads", threads},
         {"training_seconds", steps > 0 ? Json(steps * speed.step_seconds) : Json()}};
  const double total = accumulate(speed.work_ns.begin(), speed.work_ns.end(), 0.0);
  for (size_t i = 0; i < speed.work_ns.size(); ++i)
    r["breakdown"][kWorkNames[i]] = double(speed.work_ns[i]) / total;
  if (const string info = run.products->info(); !info.empty()) r["bfloat16"] = info;
  if (run.crew.alone()) return r;
  r["ranks"] = run.crew.ranks();
  r["bytes_per_step"] = speed.bytes_sent;
  r["bytes_by_formula"] = speed.step_bytes;
  r["exchange_share"] = speed.message_seconds / speed.step_seconds;
  return r;
}

// `all_steps`: of the config, 0 if it does not say.
void print_bench(const Json& r, int64_t all_steps) {
  const auto number = [&](const char* key) { return r[key].get<double>(); };
  Json fields{{"tokens/s", format_rate(number("tokens_per_second"))},
              {"steps/s", fixed<3>(r["steps_per_second"])},
              {"GFLOP/step", fixed<2>(r["gflop_per_step"])},
              {"GFLOP/s", fixed<1>(r["gflops"])},
              {"sgemm peak", fixed<1>(r["sgemm_gflops"]) + " GFLOP/s"},
              {"share of it", percent(r["utilisation"])},
              {"peak memory", fixed<0>(r["peak_rss_mib"]) + " MiB"}};
  if (r.contains("bfloat16")) fields["bfloat16"] = r["bfloat16"];
  if (all_steps > 0)
    fields["all " + format_count(all_steps) + " steps"] =
        fmt::format("about {}, plus validation", format_duration(number("training_seconds")));
  fields[fmt::format("{} minutes", kMinutes)] =
      fmt::format("{} steps, plus validation",
                  format_count(llround(60 * kMinutes * number("steps_per_second"))));
  if (r.contains("ranks"))
    fields[r["ranks"].dump() + " ranks"] = fmt::format(
        "{:.0f} bytes a step (by the formula {:.0f}), {} of it exchange and waiting",
        number("bytes_per_step"), number("bytes_by_formula"), percent(r["exchange_share"]));
  print_fields(fields);
  print("\n");
  Json shares;
  for (const auto& [work, share] : r["breakdown"].items()) shares[work] = percent(share);
  print_fields(shares);
}

}  // namespace

Exit run_bench_command(CommandLine& line) {
  string path;
  int64_t steps = 0;
  line.add_file("CONFIG|TEXT|RUN", path, "a config, a text to train on, or a run")->required();
  line.add_sets();
  line.add_steps("--steps", steps, "steps to measure (default: about six seconds of them)");
  line.add_threads();
  line.parse();
  Log log({.quiet = line.quiet || line.json});
  const bool text = is_text(path);
  if (!text) path = config_path(path);
  const RunConfig config =
      text ? config_for(path, line.given(), log) : load_config(path, line.given());
  const string folder = text ? "." : data_folder_of(path);
  const PreparedRun run = prepare_run(config, folder, {}, line.threads, line.crew);
  const Speed speed = measure_speed(run, [&](int64_t measured, double seconds) {
    return steps > 0 ? measured >= steps : measured >= 5 && seconds >= 6;
  });
  const Json result = bench_json(run, speed);
  line.json ? print_line(result) : print_bench(result, run.plan.steps);
  return Exit::ok;
}

}  // namespace heed
