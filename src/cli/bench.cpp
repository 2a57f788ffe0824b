// heed bench CONFIG
#include "inspect/bench.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/pool.h"
#include "cli/command.h"
#include "cli/config_path.h"
#include "cli/output.h"
#include "math/blas.h"
#include "store/trained_model.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kBenchNotes =
    "Takes real steps on the config's data and saves nothing. tokens/s counts source and target.\n"
    "GFLOP/s counts matrix products only (forward times 3, causal attention in full); the sgemm\n"
    "peak is what OpenBLAS reaches on 2048 x 2048 products with one thread per core.\n"
    "The last table shows where the threads' time goes. gemm_*: products of the layers and the\n"
    "output; attention: all work of the heads; waiting: for other threads, and the rest.\n"
    "--json keys: tokens_per_second, steps_per_second, gflop_per_step, gflops, sgemm_gflops,\n"
    "utilisation (gflops / sgemm_gflops), peak_rss_mib, steps, threads, training_seconds (of all\n"
    "steps of the config without validation; null without train.max_steps), breakdown (shares).";

}  // namespace

Exit run_bench_command(CommandLine& line) {
  std::string path;
  std::vector<std::string> sets;
  std::int64_t steps = 0;
  int threads = 0;
  bool json = false;
  line.add_config(path);
  line.add_sets(sets);
  line.add_steps("--steps", steps, "steps to measure (default: about six seconds of them)");
  line.add_threads(threads);
  line.add_json(json);
  line.app().footer(kBenchNotes);
  if (!line.parse()) return Exit::ok;
  path = config_path(path);
  const RunConfig config = load_config(path, sets);
  threads = thread_count(threads, config);
  prepare_blas(threads);
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  const BenchResult r = run_bench(config, folder, steps, threads);

  const std::int64_t all_steps = config.train.max_steps;
  const double training_seconds = static_cast<double>(all_steps) / r.steps_per_second;
  double total = 0;
  for (std::uint64_t ns : r.profile.ns) total += static_cast<double>(ns);
  const auto share = [&](std::size_t i) { return static_cast<double>(r.profile.ns[i]) / total; };
  if (json) {
    Json breakdown;
    for (std::size_t i = 0; i < r.profile.ns.size(); ++i) breakdown[kWorkNames[i]] = share(i);
    print_line({{"tokens_per_second", r.tokens_per_second},
                {"steps_per_second", r.steps_per_second},
                {"gflop_per_step", r.gflop_per_step},
                {"gflops", r.gflops},
                {"sgemm_gflops", r.sgemm_gflops},
                {"utilisation", r.utilisation},
                {"peak_rss_mib", r.peak_rss_mib},
                {"steps", r.steps},
                {"threads", r.threads},
                {"training_seconds", all_steps > 0 ? Json(training_seconds) : Json()},
                {"breakdown", breakdown}});
    return Exit::ok;
  }
  const int peak_threads = std::min(r.threads, available_cores());
  print(fmt::format("tokens/s      {}\nsteps/s       {:.3f}\nGFLOP/step    {:.2f}\n",
                    format_rate(r.tokens_per_second), r.steps_per_second, r.gflop_per_step));
  print(fmt::format("GFLOP/s       {:.1f}\nsgemm peak    {:.1f} GFLOP/s on {}\n", r.gflops,
                    r.sgemm_gflops, counted(std::to_string(peak_threads), "thread")));
  print(fmt::format("share of it   {:.1f} %\npeak memory   {:.0f} MiB\n", 100 * r.utilisation,
                    r.peak_rss_mib));
  if (all_steps > 0)
    print(fmt::format("all {} steps: about {} on {}, plus validation\n", format_count(all_steps),
                      format_duration(training_seconds),
                      counted(std::to_string(r.threads), "thread")));
  for (std::size_t i = 0; i < r.profile.ns.size(); ++i)
    print(fmt::format("  {:22}{:.1f} %\n", kWorkNames[i], 100 * share(i)));
  return Exit::ok;
}

}  // namespace heed
