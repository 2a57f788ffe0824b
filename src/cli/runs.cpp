// heed runs [RUN|DIR...]: runs side by side, a line each.
#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/run_config.h"
#include "store/model.h"
#include "store/run.h"
#include "store/run_folder.h"
#include "store/run_writer.h"
#include "store/safetensors.h"
#include "text/utf8.h"

namespace heed {
namespace {

struct ListedRun {
  Json row;  // with all its keys
  Origin origin;
  fs::file_time_type date;  // when it last learnt something
  Json rank;                // for --sort: at first of the metric, more is better
};

string state_in_words(const Run& run) {
  if (!run.logged.events.empty() && run.logged.events.back().event == "diverged") return "diverged";
  return run.damaged ? "damaged" : run.end() == Stop::none ? "stopped" : "finished";
}

ListedRun list_run(const fs::path& folder) {
  Run run{.folder = folder};
  Json parameters, data, branch, bits, metric = Json::object(), keys = Json::object();
  string state = "damaged";
  try {
    run = read_run(folder);
    keys = keys_of(run.config);
    data = data_in_words(run.config.data);
    if (run.best) {
      InputFile file(step_folder(folder, run.best->step) / kModelFile);
      uint64_t numbers = 0;
      for (const auto& [name, entry] : list_safetensors(file)) numbers += numbers_in(entry.shape);
      parameters = numbers;
    }
    state = state_in_words(run);
  } catch (const Error&) {
  }
  const State best = run.best.value_or(State());
  const Origin& origin = run.origin;
  if (isfinite(best.valid_metric)) metric[run.config.train.select_by] = abs(best.valid_metric);
  for (const ValidEvent& valid : run.logged.valid)
    if (valid.bits_per_byte && valid.step == best.step && valid.loss == best.valid_loss)
      bits = *valid.bits_per_byte;
  if (!origin.branched_from.empty())
    branch = fmt::format("from {} at step {}", fs::path(origin.branched_from).filename().string(),
                         origin.branched_at);
  // Of the last checkpoint, or the one that training has reached.
  int64_t step = run.states.empty() ? 0 : run.states.back().step;
  if (run.locked && !run.logged.train.empty()) step = max(step, run.logged.train.back().step);
  const fs::file_time_type date = max(fs::last_write_time(folder / kCheckpoints, ignored()),
                                      fs::last_write_time(folder / kMetrics, ignored()));
  const auto time = chrono::system_clock::to_time_t(chrono::file_clock::to_sys(date));
  return {{{"name", folder.filename().string()},
           {"step", step},
           {"state", is_locked(folder) ? "running" : state},
           {"best_step", run.best ? Json(best.step) : Json()},
           {"loss", isfinite(best.valid_loss) ? Json(best.valid_loss) : Json()},
           {"bits_per_byte", bits},
           {"metric", metric},
           {"parameters", parameters},
           {"data", data},
           {"branch", branch},
           {"date", fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(time))},
           {"keys", keys}},
          origin,
          date,
          metric.empty() ? Json() : Json(best.valid_metric)};
}

// Keys that follow from the time or the end of the run, or that the data's column shows: among
// those in which runs differ, they say little, as do kOfThisProcess.
constexpr string_view kDerived =
    "data.train data.source data.target data.pairs data.valid_fraction optimizer.decay_steps "
    "optimizer.min_learning_rate optimizer.warmup_steps train.max_steps train.log_every "
    "train.eval_every train.save_every";

// Leaves each run the keys in which not all are the same, and adds "own_keys": those that its
// command gave, and those in which it differs from others on the same data.
void add_keys(vector<ListedRun>& runs) {
  vector<ConfigKeys> differing(runs.size()), own(runs.size());
  vector<ConfigKeys*> all;
  map<string, vector<ConfigKeys*>> families;  // by data
  for (size_t i = 0; i < runs.size(); ++i) {
    differing[i] = own[i] = runs[i].row["keys"].get<ConfigKeys>();
    all.push_back(&differing[i]);
    families[runs[i].origin.hash.data].push_back(&own[i]);
  }
  keep_differences(all);
  for (const auto& [data, family] : families) keep_differences(family);
  for (size_t i = 0; i < runs.size(); ++i) {
    Json &keys = runs[i].row["keys"], &chosen = runs[i].row["own_keys"] = Json::object();
    for (const string& key : runs[i].origin.given)
      if (keys.contains(key)) chosen[key] = keys[key];
    for (const string_view key : split_words(kDerived)) own[i].erase(string(key));
    for (const char* key : kOfThisProcess) own[i].erase(fmt::format("train.{}", key));
    chosen.update(Json(own[i]));
    keys = differing[i];
  }
}

string metric_text(const Json& metric) {
  return fmt::format("{} {:.3g}", metric.begin().key(), metric.front().get<double>());
}

string rate_text(const Json& number) {
  return format_rate(number.get<double>());
}

string keys_text(const Json& keys) {
  vector<string> all;
  for (const auto& [key, value] : keys.items())
    if (!value.empty() && value != "") all.push_back(key + "=" + plain(value));
  return joined(all, " ");
}

void print_runs(Json runs, const string& sort, bool every_key) {
  vector<Column> columns = {
      {"run", "name"},
      {"step", "step"},
      {"state", "state"},
      {"loss", "loss", fixed<4>},
      {"bits/byte", "bits_per_byte", fixed<4>, 3},
      {"metric", "metric", metric_text, 5},
      {"weights", "parameters", rate_text, 2},
      {"data", "data", plain, 4},
      {"branch", "branch", plain, 2},
      {"date", "date", plain, 1},
      {"keys", every_key ? "keys" : "own_keys", keys_text, 0, Column::cut},
  };
  const string key = runs.front()["metric"].contains(sort) ? "metric" : sort;
  for (Column& column : columns)
    if (column.key == key) column.leaves = 0;
  for (Json& run : runs) {
    if (!on_terminal()) break;
    run["name"] = shortened(printable(plain(run["name"])), max(16, output_columns() / 4));
    if (!run["data"].is_null()) run["data"] = shortened(printable(plain(run["data"])), 24);
  }
  print_table(runs, columns);
}

// A column a key and a metric.
Json flat(Json row) {
  const Json metric = row["metric"], keys = row["keys"];
  row["metric"] = metric.empty() ? Json() : metric.front();
  row.erase("keys");
  row.erase("own_keys");
  row.update(metric);
  row.update(keys);
  return row;
}

void print_tsv(const Json& runs) {
  Json rows = Json::array(), names;
  for (const Json& run : runs) names.update(rows.emplace_back(flat(run)));
  vector<Column> columns;
  for (const auto& [name, any] : names.items()) columns.push_back({name, name});
  print_tabs(rows, columns);
}

// The newest or the best metric first, else the least; what is not known comes last.
void sort_runs(vector<ListedRun>& runs, const string& key) {
  bool known = false, falls = key == "metric" || key == "date";
  for (ListedRun& run : runs) {
    const Json row = flat(run.row);
    known = known || row.contains(key);
    const bool of_metric = key == "metric" || run.row["metric"].contains(key);
    falls = falls || of_metric;
    if (!of_metric) run.rank = row.value(key, Json());
  }
  if (!known)
    throw usage_error("--sort: no run has a column or key {}.", excerpt(key))
        .hint("--sort loss; or another column of heed runs --tsv");
  ranges::stable_sort(runs, [&](const ListedRun& a, const ListedRun& b) {
    const Json &x = a.rank, &y = b.rank;
    if (x.empty() || y.empty()) return y.empty() && !x.empty();
    return falls ? y < x : x < y;
  });
}

// The runs that a place is, or has in it.
set<fs::path> runs_at(const string& place, bool all) {
  const fs::path folder = written_out(place);
  if (!path_exists(folder)) list_steps(place);  // Error that names the runs there are
  if (path_exists(folder / kCheckpoints)) return {folder};
  names_in(folder);  // Error if it cannot be listed
  set<fs::path> runs;
  for (const string& name : names_of_runs(folder, all))
    if (path_exists(folder / name / kConfigFile) || path_exists(folder / name / kMetrics))
      runs.insert(folder / name);
  if (runs.empty())
    throw store_error("{} has no runs", quoted_path(place))
        .hint("the folder that has them; heed train makes runs/NAME");
  return runs;
}

}  // namespace

Exit run_runs(CommandLine& line) {
  vector<string> places;
  string sort;
  bool tsv = false, all = false, every_key = false;
  line.add_run(places, "runs, or folders of runs (default: runs)", "RUN|DIR");
  line.app.add_option("--sort", sort,
                      "by a column or a key: loss, metric, model.d_model (default: date)");
  line.app.add_flag("--keys", every_key, "all keys of the config that differ");
  line.app.add_flag("--all", all, "also NAME.old-K, what --force replaced");
  line.app.add_flag("--tsv", tsv, "columns separated by tabs, one for each such key");
  line.parse();
  line.only_where(!line.json, {"--tsv"}, "without --json");
  if (places.empty()) places = {"runs"};
  set<fs::path> found;
  for (const string& place : places) found.merge(runs_at(place, all));
  auto runs = mapped(found, list_run);
  ranges::stable_sort(runs, greater{}, &ListedRun::date);
  if (!sort.empty()) sort_runs(runs, sort);
  add_keys(runs);
  const Json result = mapped(runs, &ListedRun::row);
  if (line.json)
    for (const Json& run : result) print_line(run);
  else if (tsv)
    print_tsv(result);
  else
    print_runs(result, sort, every_key);
  return Exit::ok;
}

}  // namespace heed
