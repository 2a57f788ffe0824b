// heed runs [DIR]: the runs in a folder, side by side.
#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/folders.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "data/run_config.h"
#include "store/best.h"
#include "store/layout.h"
#include "store/run_folder.h"
#include "store/run_records.h"
#include "store/run_writer.h"
#include "store/trained_model.h"
#include "train/trainer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct ListedRun {
  Json json;  // all but its keys
  ConfigKeys keys;
  fs::file_time_type date;  // when it last learnt something
};

std::uintmax_t size_of_files(const fs::path& run) {
  std::uintmax_t bytes = 0;
  std::error_code none;
  for (fs::recursive_directory_iterator entry(run, none), end; !none && entry != end;
       entry.increment(none)) {
    std::error_code gone;
    if (!entry->is_regular_file(gone) || entry->is_symlink(gone)) continue;
    const std::uintmax_t size = entry->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

std::string date_text(fs::file_time_type date) {
  const auto time = std::chrono::file_clock::to_sys(date);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(seconds));
}

ListedRun list_run(const fs::path& run) {
  std::error_code none;
  ListedRun listed;
  listed.date = std::max(fs::last_write_time(run / kCheckpoints, none),
                         fs::last_write_time(run / kMetrics, none));
  std::int64_t step = 0, logged_step = 0;
  Json& row = listed.json = {{"name", run.filename().string()},
                             {"step", step},
                             {"state", "stopped"},
                             {"best_step", nullptr},
                             {"loss", nullptr},
                             {"bits_per_byte", nullptr},
                             {"bytes", size_of_files(run)},
                             {"date", date_text(listed.date)}};
  try {
    const RunConfig config = config_of_run(run);
    listed.keys = keys_of(config);
    const std::vector<State> states = states_of(run);
    if (!states.empty()) step = states.back().step;
    if (!states.empty() && end_of(config.train, states.back()) != End::none)
      row["state"] = "finished";
    if (states.size() != list_steps(run).size()) row["state"] = "damaged";
    const auto best = best_checkpoint(run);
    if (best) row["best_step"] = best->step;
    if (best && std::isfinite(best->valid_loss)) row["loss"] = best->valid_loss;
    const LoggedEvents logged = read_events(run);
    for (const ValidEvent& valid : logged.valid)
      if (valid.bits_per_byte && valid.step == row["best_step"] && valid.loss == row["loss"])
        row["bits_per_byte"] = *valid.bits_per_byte;
    if (!logged.train.empty()) logged_step = logged.train.back().step;
    if (!logged.events.empty() && logged.events.back().event == "diverged")
      row["state"] = "diverged";
  } catch (const Error&) {
    row["state"] = "damaged";
  }
  const bool running = is_locked(run);
  if (running) row["state"] = "running";
  row["step"] = running ? std::max(step, logged_step) : step;
  return listed;
}

std::string size_text(const Json& bytes) {
  return format_bytes(bytes.get<double>());
}

template <bool empty_too>
std::string keys_text(const Json& keys) {
  std::vector<std::string> all;
  for (const auto& [key, value] : keys.items())
    if (empty_too || !(value.is_null() || value.empty() || value == ""))
      all.push_back(key + "=" + value.dump());
  return joined(all, " ");
}

void print_runs(const Json& runs, bool tsv) {
  const Column columns[] = {
      {"run", "name"},
      {"step", "step"},
      {"state", "state"},
      {"loss", "loss", fixed<4>},
      {"bits/byte", "bits_per_byte", fixed<4>, 1},
      {"size", "bytes", tsv ? plain : size_text, 2},
      {"date", "date", plain, 3},
      {"differs in", "keys", tsv ? keys_text<true> : keys_text<false>, 0, Column::broken},
  };
  tsv ? print_tabs(runs, columns) : print_table(runs, columns);
}

}  // namespace

Exit run_runs(CommandLine& line) {
  std::string folder = "runs";
  bool tsv = false, all = false;
  line.app().add_option("DIR", folder, "folder of runs");
  line.app().add_flag("--all", all, "also NAME.old-K, what runs were before");
  line.app().add_flag("--tsv", tsv, "columns separated by tabs, sizes in bytes");
  if (!line.parse()) return Exit::ok;
  names_in(folder);  // Error if it cannot be listed
  std::vector<ListedRun> runs;
  for (const std::string& name : names_of_runs(folder, all))
    runs.push_back(list_run(fs::path(folder) / name));
  if (runs.empty())
    throw Error(Exit::store, quoted_path(folder) + " has no runs",
                "the folder that has them; heed train makes runs/NAME");
  std::ranges::stable_sort(runs, std::greater{}, &ListedRun::date);
  std::vector<ConfigKeys*> keys;
  for (ListedRun& run : runs) keys.push_back(&run.keys);
  keep_differences(keys);
  Json result = Json::array();
  for (ListedRun& run : runs) {
    run.json["keys"] = run.keys;
    result.push_back(run.json);
  }
  if (!line.json()) print_runs(result, tsv);
  const std::size_t old = names_of_runs(folder, true).size() - names_of_runs(folder).size();
  if (!line.json() && !tsv && !all && old > 0)
    print_prose(fmt::format("{} older; --all lists them too\n", old));
  if (line.json())
    for (const Json& run : result) print_line(run);
  return Exit::ok;
}

}  // namespace heed
