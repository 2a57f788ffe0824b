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
#include "train/trainer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct RunRow {
  std::string name, state = "stopped";
  std::int64_t step = 0, best_step = -1;
  std::optional<double> loss, bits_per_byte;
  std::uintmax_t bytes = 0;
  fs::file_time_type date;
  ConfigKeys config;
};

// Its files' sizes, and when it last learnt something.
void measure_files(const fs::path& run, RunRow& row) {
  std::error_code none;
  row.date = std::max(fs::last_write_time(run / kCheckpoints, none),
                      fs::last_write_time(run / kMetrics, none));
  none.clear();
  for (fs::recursive_directory_iterator entry(run, none), end; !none && entry != end;
       entry.increment(none)) {
    std::error_code gone;
    if (!entry->is_regular_file(gone) || entry->is_symlink(gone)) continue;
    const std::uintmax_t size = entry->file_size(gone);
    if (!gone) row.bytes += size;
  }
}

RunRow row_of(const fs::path& run) {
  RunRow row;
  std::int64_t last = 0;  // step that is logged
  row.name = run.filename();
  measure_files(run, row);
  try {
    const RunConfig config = load_config((run / kConfigFile).string());
    row.config = keys_of(config);
    const std::vector<State> states = states_of(run);
    if (!states.empty()) row.step = states.back().step;
    if (!states.empty() && end_of(config.train, states.back()) != End::none) row.state = "finished";
    if (states.size() != list_steps(run).size()) row.state = "damaged";
    if (const auto best = best_checkpoint(run)) {
      row.best_step = best->step;
      if (std::isfinite(best->valid_loss)) row.loss = best->valid_loss;
    }
    const LoggedEvents logged = read_events(run);
    for (const ValidEvent& valid : logged.valid)
      if (valid.step == row.best_step && valid.loss == row.loss)
        row.bits_per_byte = valid.bits_per_byte;
    if (!logged.train.empty()) last = logged.train.back().step;
    if (!logged.events.empty() && logged.events.back().event == "diverged") row.state = "diverged";
  } catch (const Error&) {
    row.state = "damaged";
  }
  if (is_locked(run)) {
    row.state = "running";
    row.step = std::max(row.step, last);
  }
  return row;
}

std::vector<RunRow> runs_in(const fs::path& folder) {
  std::vector<RunRow> rows;
  names_in(folder);  // Error if it cannot be listed
  for (const std::string& name : names_of_runs(folder)) rows.push_back(row_of(folder / name));
  std::ranges::stable_sort(rows, std::greater{}, &RunRow::date);
  return rows;
}

std::string date_of(const RunRow& row) {
  const auto time = std::chrono::file_clock::to_sys(row.date);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(seconds));
}

Json run_json(const RunRow& row) {
  const auto known = [](const std::optional<double>& x) { return x ? Json(*x) : Json(); };
  return {
      {"name", row.name},        {"step", row.step},
      {"state", row.state},      {"best_step", row.best_step < 0 ? Json() : Json(row.best_step)},
      {"loss", known(row.loss)}, {"bits_per_byte", known(row.bits_per_byte)},
      {"bytes", row.bytes},      {"date", date_of(row)},
      {"keys", row.config}};
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
  bool tsv = false;
  line.app().add_option("DIR", folder, "folder of runs");
  line.app().add_flag("--tsv", tsv, "columns separated by tabs, sizes in bytes");
  if (!line.parse()) return Exit::ok;
  std::vector<RunRow> rows = runs_in(folder);
  if (rows.empty())
    throw Error(Exit::store, quoted_path(folder) + " has no runs",
                "the folder that has them; heed train makes runs/NAME");
  std::vector<ConfigKeys*> configs;
  for (RunRow& row : rows) configs.push_back(&row.config);
  keep_differences(configs);
  Json result = Json::array();
  for (const RunRow& row : rows) result.push_back(run_json(row));
  if (!line.json()) print_runs(result, tsv);
  if (line.json())
    for (const Json& run : result) print_line(run);
  return Exit::ok;
}

}  // namespace heed
