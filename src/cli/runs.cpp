// heed runs [DIR]: the runs in a folder, side by side.
#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "base/folders.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/run_config.h"
#include "store/best.h"
#include "store/layout.h"
#include "store/run_events.h"
#include "store/run_folder.h"
#include "store/run_lock.h"
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
  std::map<std::string, Json> config;  // key -> value
};

// Its files' sizes, and when the newest was written.
void measure_files(const fs::path& run, RunRow& row) {
  std::error_code none;
  row.date = fs::last_write_time(run, none);
  for (fs::recursive_directory_iterator entry(run, none), end; !none && entry != end;
       entry.increment(none)) {
    std::error_code gone;
    if (!entry->is_regular_file(gone) || entry->is_symlink(gone)) continue;
    const std::uintmax_t size = entry->file_size(gone);
    if (!gone) row.bytes += size;
    if (entry->path().filename() == kLockFile) continue;
    if (const auto date = entry->last_write_time(gone); !gone) row.date = std::max(row.date, date);
  }
}

std::map<std::string, Json> keys_of(const RunConfig& config) {
  std::map<std::string, Json> keys;
  const Json flat = Json::parse(dump_config(config)).flatten();
  for (const auto& [pointer, value] : flat.items())
    keys[replace_all(pointer.substr(1), "/", ".")] = value;
  return keys;
}

RunRow row_of(const fs::path& run) {
  RunRow row;
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
    bool diverged = false;
    for_each_event(run, [&](Json& line) {
      if (const auto event = event_from<RunEvent>(line)) diverged = event->event == "diverged";
      if (const auto valid = event_from<ValidEvent>(line);
          valid && valid->step == row.best_step && valid->loss == row.loss)
        row.bits_per_byte = valid->bits_per_byte;
    });
    if (diverged) row.state = "diverged";
  } catch (const Error&) {
    row.state = "damaged";
  }
  if (is_locked(run)) row.state = "running";
  return row;
}

std::vector<RunRow> runs_in(const fs::path& folder) {
  std::vector<RunRow> rows;
  names_in(folder);  // Error if it cannot be listed
  for (const std::string& name : names_of_runs(folder)) rows.push_back(row_of(folder / name));
  std::ranges::stable_sort(rows, std::greater{}, &RunRow::date);
  return rows;
}

// Leaves the keys in which they differ. (A damaged run has none.)
void keep_differences(std::vector<RunRow>& rows) {
  std::map<std::string, std::set<std::string>> values;
  std::size_t readable = 0;
  for (const RunRow& row : rows) {
    readable += !row.config.empty();
    for (const auto& [key, value] : row.config) values[key].insert(value.dump());
  }
  std::map<std::string, std::size_t> present;
  for (const RunRow& row : rows)
    for (const auto& [key, value] : row.config) ++present[key];
  for (RunRow& row : rows)
    std::erase_if(row.config, [&](const auto& entry) {
      return values[entry.first].size() == 1 && present[entry.first] == readable;
    });
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
  return {row.name,
          std::to_string(row.step),
          row.state,
          number(row.loss),
          number(row.bits_per_byte),
          exact ? std::to_string(row.bytes) : format_bytes(static_cast<double>(row.bytes)),
          date_of(row),
          joined(keys, " ")};
}

void print_table(const std::vector<RunRow>& rows, bool tsv) {
  std::vector<std::vector<std::string>> table = {
      {"run", "step", "state", "loss", "bits/byte", "size", "date", "differs in"}};
  for (const RunRow& row : rows) table.push_back(cells_of(row, tsv));
  std::vector<std::size_t> widths(table.front().size());
  for (const auto& cells : table)
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  for (const auto& cells : table) {
    std::string text = cells.front();
    for (std::size_t i = 1; i < cells.size(); ++i) {
      const bool last = i + 1 == cells.size();
      if (tsv) {
        text += "\t" + cells[i];
      } else if (!last || !cells[i].empty()) {
        text += std::string(widths[i - 1] - cells[i - 1].size() + 2, ' ') + cells[i];
      }
    }
    print(text + "\n");
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
  keep_differences(rows);
  if (!line.json()) print_table(rows, tsv);
  if (line.json())
    for (const RunRow& row : rows) print_line(json_of(row));
  return Exit::ok;
}

}  // namespace heed
