// heed bench CONFIG
#include "inspect/bench.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/pool.h"
#include "cli/command.h"
#include "cli/output.h"
#include "math/blas.h"
#include "store/trained_model.h"

namespace heed {
namespace {

constexpr const char* kBenchNotes =
    "Takes real steps on the config's data and saves nothing. tokens/s counts source and target.\n"
    "GFLOP/s are those of the products alone (forward times 3, causal attention counted in full);\n"
    "the sgemm peak is what OpenBLAS reaches with 2048 x 2048 products, one thread a core.\n"
    "Below, where the threads' time goes. gemm_*: products of layers and output; attention: all "
    "of\n"
    "a head's; waiting: for each other, and what no other name covers.\n"
    "--json keys: tokens_per_second, steps_per_second, gflop_per_step, gflops, sgemm_gflops,\n"
    "utilisation (gflops / sgemm_gflops), peak_rss_mib, steps, threads, breakdown (shares of 1).";

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
  const RunConfig config = load_config(path, sets);
  threads = thread_count(threads, config);
  prepare_blas(threads);
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  const BenchResult r = run_bench(config, folder, steps, threads);

  double total = 0;
  for (std::uint64_t ns : r.profile.ns) total += static_cast<double>(ns);
  const auto share = [&](std::size_t i) { return static_cast<double>(r.profile.ns[i]) / total; };
  if (json) {
    nlohmann::ordered_json breakdown;
    for (std::size_t i = 0; i < r.profile.ns.size(); ++i) breakdown[kWorkNames[i]] = share(i);
    print(nlohmann::ordered_json{{"tokens_per_second", r.tokens_per_second},
                                 {"steps_per_second", r.steps_per_second},
                                 {"gflop_per_step", r.gflop_per_step},
                                 {"gflops", r.gflops},
                                 {"sgemm_gflops", r.sgemm_gflops},
                                 {"utilisation", r.utilisation},
                                 {"peak_rss_mib", r.peak_rss_mib},
                                 {"steps", r.steps},
                                 {"threads", r.threads},
                                 {"breakdown", breakdown}}
              .dump() +
          "\n");
    return Exit::ok;
  }
  const int peak_threads = std::min(r.threads, available_cores());
  print("tokens/s      " + format_rate(r.tokens_per_second) + "\n" +                       //
        "steps/s       " + format_fixed(r.steps_per_second, 3) + "\n" +                    //
        "GFLOP/step    " + format_fixed(r.gflop_per_step, 2) + "\n" +                      //
        "GFLOP/s       " + format_fixed(r.gflops, 1) + "\n" +                              //
        "sgemm peak    " + format_fixed(r.sgemm_gflops, 1) + " GFLOP/s on " +              //
        std::to_string(peak_threads) + (peak_threads == 1 ? " thread\n" : " threads\n") +  //
        "share of it   " + format_fixed(100 * r.utilisation, 1) + " %\n" +                 //
        "peak memory   " + format_fixed(r.peak_rss_mib, 0) + " MiB\n");
  for (std::size_t i = 0; i < r.profile.ns.size(); ++i) {
    std::string name = kWorkNames[i];
    name.resize(22, ' ');
    print("  " + name + format_fixed(100 * share(i), 1) + " %\n");
  }
  return Exit::ok;
}

}  // namespace heed
