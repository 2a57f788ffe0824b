#include "inspect/verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "store/initial_weights.h"
#include "store/metrics_file.h"
#include "store/open_checkpoint.h"
#include "store/origin.h"
#include "store/run_folder.h"
#include "store/run_lock.h"
#include "store/trained_model.h"
#include "train/intervals.h"
#include "train/stepper.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// A message without its hint, on one line.
std::string one_line(const Error& e) {
  std::string text = e.text();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

template <class Check>
Part part(const std::string& name, Check check) {
  try {
    check();
    return {name, ""};
  } catch (const Unreadable& e) {
    return {name, one_line(e), false};
  } catch (const Error& e) {
    return {name, one_line(e)};
  }
}

void require(bool holds, const fs::path& path, const std::string& otherwise) {
  if (!holds) throw Error(Exit::store, fmt::format("{}: {}", path.string(), otherwise));
}

// What must hold of a state whatever the data: a step takes a token at least, an epoch a step.
void check_state(const fs::path& path, const std::string& name, const State& s,
                 const RunConfig& c) {
  require(!name.starts_with("step-") || name == step_folder_name(s.step), path,
          fmt::format("it is of step {}", s.step));
  require(s.seed == c.seed, path, "its seed is not that of the config");
  require(c.train.max_steps == 0 || s.step <= c.train.max_steps, path,
          fmt::format("step {} is beyond train.max_steps {}", s.step, c.train.max_steps));
  require(s.best_step <= s.step, path,
          fmt::format("the best step, {}, is later than its own, {}", s.best_step, s.step));
  require(s.step <= s.tokens_seen && s.cursor.epoch <= s.step && s.cursor.index <= s.tokens_seen,
          path,
          fmt::format("epoch {}, index {} cannot be reached by {} steps of {} tokens",
                      s.cursor.epoch, s.cursor.index, s.step, s.tokens_seen));
}

// Opening it has verified the checksums.
TrainedModel check_contents(const Checkpoint& checkpoint) {
  TrainedModel m = load_trained_model(checkpoint);
  check_state(checkpoint.folder() / "state.json", checkpoint_name(checkpoint.folder()), m.state,
              m.config);
  if (!checkpoint.has_training()) return m;
  Optimizer<float> optimizer(m.model.table, m.config.optimizer);
  ParamVec<float> raw(m.values.size());
  checkpoint.load_training(
      training_slots(m.model.table, optimizer, m.config.train.ema_decay > 0 ? &raw : nullptr));
  return m;
}

// It can be resumed.
struct Whole {
  State state;
  TrainConfig config;  // its own
};

// Adds what a folder is, unless a saver has removed it.
void add_checkpoint(const fs::path& folder, Verification& v, std::vector<Whole>& whole) {
  bool there = true;
  Part found = part(checkpoint_name(folder), [&] {
    const std::optional<Checkpoint> checkpoint = open_if_there(folder);
    there = checkpoint.has_value();
    if (!there) return;
    const TrainedModel m = check_contents(*checkpoint);
    const bool own = checkpoint_name(folder) == step_folder_name(m.state.step);
    if (own && checkpoint->has_training()) whole.push_back({m.state, m.config.train});
  });
  if (there) v.checkpoints.push_back(std::move(found));
}

// A folder that heed did not name may be anything.
void make_a_note_of_strangers(Verification& v) {
  std::erase_if(v.checkpoints, [&](const Part& p) {
    const bool own = p.name.starts_with("step-") || p.name.starts_with("average-");
    if (own || p.wrong.empty()) return false;
    v.notes.push_back(fmt::format("{} is not a whole checkpoint: {}", p.name, p.wrong));
    return true;
  });
}

std::vector<fs::path> checkpoint_folders(const fs::path& run) {
  std::vector<fs::path> folders;
  for (const std::string& name : names_in(run / "checkpoints")) {
    const fs::path folder = run / "checkpoints" / name;
    std::error_code error;
    const bool real = fs::is_directory(fs::symlink_status(folder, error));
    if (real && !name.starts_with('.') && name != "best" && name != "last")
      folders.push_back(folder);
  }
  return folders;
}

// Does a line of metrics.jsonl end with this step? The end of a run is always logged, if only with
// the labels since the line before. An epoch ends with a step, and the next begins at index 0.
bool has_line(const State& s, const TrainConfig& config) {
  if (s.label_sum > 0) return s.step == config.max_steps;
  const Cursor before{s.cursor.epoch - (s.cursor.index == 0 ? 1 : 0), 0};
  return s.step > 0 && is_due(config.log_every, {s.step, before, s.cursor});
}

// Every line is JSON, and the lines that the checkpoints know of are there.
void check_metrics(const fs::path& run, const std::vector<Whole>& whole,
                   std::vector<std::string>& notes) {
  const fs::path path = run / kMetrics;
  require(path_exists(path), path, "it is missing");
  std::int64_t number = 0;
  for_each_metrics_line(run, [&](const std::string& line, bool ended) {
    ++number;
    if (!ended)
      return notes.push_back("the last line of metrics.jsonl is cut short; heed resume drops it");
    require(nlohmann::json::parse(line, nullptr, false).is_object(), path,
            fmt::format("line {} is not a JSON object", number));
  });
  std::set<std::int64_t> logged;
  for_each_event(run, [&](const nlohmann::ordered_json& event) {
    if (event["kind"] == "train") logged.insert(event["step"].get<std::int64_t>());
  });
  for (const auto& [s, config] : whole)
    require(!has_line(s, config) || logged.contains(s.step), path,
            fmt::format("the line of step {} is missing", s.step));
}

// A link leads where saving `newest` set it, or to what came since. A best step that is gone leaves
// its link as it was; only a user links an average.
void check_link(const fs::path& run, const std::string& link, std::int64_t step,
                const State& newest) {
  const std::string target = find_checkpoint(run, link).filename().string();
  const std::string expected = step_folder_name(step);
  const bool fits = target == expected || target > step_folder_name(newest.step) ||
                    target.starts_with("average-") || !path_exists(run / "checkpoints" / expected);
  require(fits, run / "checkpoints" / link,
          fmt::format("it leads to {}, expected {}; heed resume repairs it", target, expected));
}

// What `checkpoint` was trained on, if that is still there.
void look_at_data(const Checkpoint& checkpoint, const std::string& folder,
                  std::vector<std::string>& notes) {
  try {
    if (hash_data(checkpoint_config(checkpoint), folder).all() != checkpoint.state().data_hash)
      notes.push_back("the data is not what the run was trained on: the files have changed since");
  } catch (const Error& e) {
    notes.push_back("the data cannot be read: " + one_line(e));
  }
}

void verify_run(const fs::path& run, Verification& v) {
  std::vector<Whole> whole;
  for (const fs::path& folder : checkpoint_folders(run)) add_checkpoint(folder, v, whole);
  const auto add = [&](const std::string& name, auto check) {
    v.files.push_back(part(name, check));
  };
  // The links after the checkpoints: a saver makes the first checkpoint before it makes them.
  make_a_note_of_strangers(v);
  State last;
  for (const Whole& w : whole)
    if (w.state.step >= last.step) last = w.state;
  if (!v.checkpoints.empty()) add("last", [&] { check_link(run, "last", last.step, last); });
  if (last.best_step >= 0 || path_exists(run / "checkpoints" / "best"))
    add("best", [&] { check_link(run, "best", last.best_step, last); });
  add("config.json", [&] { load_config((run / "config.json").string()); });
  Origin origin;
  if (path_exists(run / "origin.json")) {
    add("origin.json", [&] { origin = read_origin(run.string()); });
  } else {
    v.notes.push_back("origin.json is missing: paths of the data start from the current folder");
  }
  add(kMetrics, [&] { check_metrics(run, whole, v.notes); });

  std::optional<Checkpoint> newest;
  try {
    newest = newest_checkpoint(run).checkpoint;
  } catch (const Unreadable&) {
    return;  // named above, as a checkpoint that cannot be read
  }
  if (!newest) return;
  const std::string name = checkpoint_name(newest->folder());
  const bool loads = std::ranges::none_of(
      v.checkpoints, [&](const Part& p) { return p.name == name && !p.wrong.empty(); });
  if (loads)
    v.resume = name;
  else
    v.notes.push_back("heed resume would take " + name + " and refuse it: move that folder away");
  look_at_data(*newest, origin.folder, v.notes);
  const std::string of_start = origin.hash.all();
  if (!of_start.empty() && of_start != newest->state().data_hash)
    v.notes.push_back("origin.json names other data than what " + name + " was trained on");
  if (origin.init_from.empty()) return;
  add("initial-weights", [&] { kept_initial_weights(load_trained_model(*newest).model, run); });
}

bool all_whole(const std::vector<Part>& parts) {
  return std::ranges::all_of(parts, [](const Part& p) { return p.wrong.empty(); });
}

}  // namespace

bool Verification::whole() const {
  return all_whole(checkpoints) && all_whole(files);
}

Verification verify(const std::string& run) {
  Verification v;
  std::error_code error;
  if (fs::is_directory(fs::path(run) / "checkpoints", error)) {
    // A process that starts or saves makes one file after the other: look again.
    for (int left = 20; left > 0; --left) {
      const std::vector<std::int64_t> steps = list_steps(run);
      v = {};
      verify_run(run, v);
      if (all_whole(v.files) || !(is_being_written(run) || list_steps(run) != steps)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  } else {
    std::vector<Whole> whole;
    for (int left = 20; v.checkpoints.empty() && left > 0; --left)  // a link may move
      add_checkpoint(find_checkpoint(run), v, whole);
  }
  return v;
}

}  // namespace heed
