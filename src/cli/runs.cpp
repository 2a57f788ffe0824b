// heed runs [DIR]: the runs in a folder, side by side.
#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/files.h"
#include "base/folders.h"
#include "base/format.h"
#include "base/wrap.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/config_differences.h"
#include "store/best.h"
#include "store/layout.h"
#include "store/run_folder.h"
#include "store/run_lock.h"
#include "store/run_records.h"
#include "train/end.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kRunsNotes =
    "One line for each run in DIR, newest first. state: running, finished (at train.max_steps, "
    "max_epochs or by train.patience), stopped, diverged, or damaged, if its config or a "
    "state.json cannot be read (heed verify looks at the rest). loss: of the best checkpoint (nats "
    "per token). At the end of the line stand the config's keys in which the runs differ. --json "
    "keys, an object per run: name, step, state, best_step, loss, bits_per_byte (null if unknown), "
    "bytes, date, keys.";

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

Json json_of(const RunRow& row) {
  const auto known = [](const std::optional<double>& x) { return x ? Json(*x) : Json(); };
  return {
      {"name", row.name},        {"step", row.step},
      {"state", row.state},      {"best_step", row.best_step < 0 ? Json() : Json(row.best_step)},
      {"loss", known(row.loss)}, {"bits_per_byte", known(row.bits_per_byte)},
      {"bytes", row.bytes},      {"date", date_of(row)},
      {"keys", row.config}};
}

std::vector<std::string> cells_of(const RunRow& row, bool exact) {
  const auto number = [](const std::optional<double>& x) { return x ? format_fixed(*x, 4) : "-"; };
  std::vector<std::string> keys;
  for (const auto& [key, value] : row.config)
    if (exact || !(value.is_null() || value.empty() || value == ""))
      keys.push_back(key + "=" + value.dump());
  return {printable(row.name),
          std::to_string(row.step),
          row.state,
          number(row.loss),
          number(row.bits_per_byte),
          exact ? std::to_string(row.bytes) : format_bytes(static_cast<double>(row.bytes)),
          date_of(row),
          joined(keys, " ")};
}

// Where a line is wider than the terminal, what the run differs in goes below it.
void print_table(const std::vector<RunRow>& rows, bool tsv) {
  std::vector<std::vector<std::string>> table = {
      {"run", "step", "state", "loss", "bits/byte", "size", "date", "differs in"}};
  for (const RunRow& row : rows) table.push_back(cells_of(row, tsv));
  std::vector<int> widths(table.front().size());
  for (const auto& cells : table)
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(cells[i]));
  const int most = output_columns();
  const bool below = std::accumulate(widths.begin(), widths.end(), 0) + 2 * 7 > most;
  for (const auto& cells : table) {
    if (tsv) {
      print(joined(cells, "\t") + "\n");
      continue;
    }
    std::string text;
    for (std::size_t i = 0; i + 1 < cells.size(); ++i)
      text += cells[i] + std::string(widths[i] - columns_of(cells[i]) + 2, ' ');
    if (below && !cells.back().empty()) text += "\n    ";
    text += cells.back();
    print(wrapped(text.substr(0, text.find_last_not_of(' ') + 1), most, "    ") + "\n");
  }
}

}  // namespace

Exit run_runs(CommandLine& line) {
  std::string folder = "runs";
  bool tsv = false;
  line.app().add_option("DIR", folder, "folder of runs");
  line.app().add_flag("--tsv", tsv, "columns separated by tabs, sizes in bytes");
  line.app().footer(kRunsNotes);
  if (!line.parse()) return Exit::ok;
  std::vector<RunRow> rows = runs_in(folder);
  if (rows.empty())
    throw Error(Exit::store, quoted_path(folder) + " has no runs",
                "the folder that has them; heed train makes runs/NAME");
  std::vector<ConfigKeys*> configs;
  for (RunRow& row : rows) configs.push_back(&row.config);
  keep_differences(configs);
  if (!line.json()) print_table(rows, tsv);
  if (line.json())
    for (const RunRow& row : rows) print_line(json_of(row));
  return Exit::ok;
}

}  // namespace heed
