// heed bench CONFIG, TEXT or RUN
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/format.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/config_path.h"
#include "cli/output.h"
#include "train/speed.h"
#include "train/text_start.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMinutes = 5;

constexpr const char* kBenchNotes =
    "Takes real steps on the data of the config or run, or with what heed train would make for a "
    "text, and saves nothing. tokens/s counts source and target. "
    "GFLOP/s counts matrix products only (forward times 3, causal attention in full); the sgemm "
    "peak is what OpenBLAS reaches on 2048 x 2048 products with one thread per core. The last "
    "table shows where the threads' time goes. linear_*: products of the layers and the output; "
    "attention: scores and sums of the heads; other_layers: embeddings, norms, activations, "
    "dropout; "
    "waiting: for other threads, and the rest.\n"
    "--json keys: tokens_per_second, steps_per_second, "
    "gflop_per_step, gflops, sgemm_gflops, utilisation (gflops / sgemm_gflops), peak_rss_mib, "
    "steps, threads, training_seconds (of all steps of the config without validation; null without "
    "train.max_steps), breakdown (shares). Under mpirun also ranks, bytes_per_step (that all ranks "
    "send), bytes_by_formula and exchange_share (of a step of the first rank, mostly waiting).";

}  // namespace

Exit run_bench_command(CommandLine& line) {
  std::string path;
  std::int64_t steps = 0;
  line.app()
      .add_option("CONFIG|TEXT|RUN", path, "a config, a text to train on, or a run")
      ->type_name("PATH")
      ->required();
  line.add_sets();
  line.add_steps("--steps", steps, "steps to measure (default: about six seconds of them)");
  line.add_threads();
  line.app().footer(kBenchNotes);
  if (!line.parse()) return Exit::ok;
  Log log({.quiet = line.quiet() || line.json()});
  const bool text = is_text(path);
  if (!text) path = config_path(path);
  const RunConfig config =
      text ? config_for(path, line.given(), log) : load_config(path, line.given());
  const std::string folder = text ? "." : data_folder_of(path);
  const PreparedRun run = prepare_run(config, folder, {}, line.threads(), line.crew());
  const Speed speed = measure_speed(run, [&](std::int64_t measured, double seconds) {
    return steps > 0 ? measured >= steps : measured >= 5 && seconds >= 6;
  });
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const int threads = run.pool->threads();
  const int peak_threads = std::min(threads, available_cores());
  const double peak = measure_sgemm(peak_threads, 3.0), reached = speed.flops_per_second * 1e-9;
  const std::int64_t all_steps = run.plan.steps;
  const double training_seconds = static_cast<double>(all_steps) * speed.step_seconds;
  Json breakdown;
  const auto& ns = speed.work_ns;
  const double total = std::accumulate(ns.begin(), ns.end(), 0.0);
  for (std::size_t i = 0; i < ns.size(); ++i)
    breakdown[kWorkNames[i]] = static_cast<double>(ns[i]) / total;
  Json r{{"tokens_per_second", speed.tokens_per_second},
         {"steps_per_second", 1 / speed.step_seconds},
         {"gflop_per_step", speed.flops * 1e-9},
         {"gflops", reached},
         {"sgemm_gflops", peak},
         {"utilisation", reached / peak},
         {"peak_rss_mib", static_cast<double>(usage.ru_maxrss) / 1024.0},
         {"steps", speed.steps},
         {"threads", threads},
         {"training_seconds", all_steps > 0 ? Json(training_seconds) : Json()},
         {"breakdown", breakdown}};
  if (!run.crew.alone()) {
    r["ranks"] = run.crew.ranks();
    r["bytes_per_step"] = speed.bytes_sent;
    r["bytes_by_formula"] = speed.step_bytes;
    r["exchange_share"] = speed.message_seconds / speed.step_seconds;
  }
  if (line.json()) {
    print_line(r);
    return Exit::ok;
  }
  const auto number = [&](const char* key) { return r[key].get<double>(); };
  print(fmt::format("tokens/s      {}\nsteps/s       {:.3f}\nGFLOP/step    {:.2f}\n",
                    format_rate(number("tokens_per_second")), number("steps_per_second"),
                    number("gflop_per_step")));
  print(fmt::format("GFLOP/s       {:.1f}\nsgemm peak    {:.1f} GFLOP/s on {}\n", reached, peak,
                    counted(std::to_string(peak_threads), "thread")));
  print(fmt::format("share of it   {:.1f} %\npeak memory   {:.0f} MiB\n",
                    100 * number("utilisation"), number("peak_rss_mib")));
  if (all_steps > 0)
    print(fmt::format("all {} steps: about {} on {}, plus validation\n", format_count(all_steps),
                      format_duration(training_seconds),
                      counted(std::to_string(threads), "thread")));
  print(fmt::format("{} give {} steps, plus validation\n",
                    counted(std::to_string(kMinutes), "minute"),
                    format_count(std::llround(60 * kMinutes / speed.step_seconds))));
  for (const auto& [work, share] : breakdown.items())
    print(fmt::format("  {:22}{:.1f} %\n", work, 100 * share.get<double>()));
  if (run.crew.alone()) return Exit::ok;
  print(fmt::format(
      "{} ranks: {:.0f} bytes a step (by the formula {:.0f}), {:.1f} % of it exchange "
      "and waiting\n",
      run.crew.ranks(), speed.bytes_sent, speed.step_bytes, 100 * number("exchange_share")));
  return Exit::ok;
}

}  // namespace heed
