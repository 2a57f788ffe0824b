#include "store/run_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/std_names.h"
#include "base/text_kind.h"

namespace heed {
namespace {

optional<int64_t> parse_step(string_view name) {
  if (!name.starts_with(kStepPrefix)) return nullopt;
  const auto step = read_number<int64_t>(name.substr(kStepPrefix.size()));
  return step.value_or(-1) < 0 ? nullopt : step;
}

// Is it the whole name of a step's folder?
bool is_step(const string& name) {
  const optional<int64_t> step = parse_step(name);
  return step && name == step_folder_name(*step);
}

string what_exists(const fs::path& checkpoints) {
  vector<string> names = names_in(checkpoints);
  erase_if(names, [](const string& name) { return name.starts_with('.'); });
  return names.empty() ? "there is no checkpoint yet" : "there are: " + joined(names);
}

// What to try for a run that is not there: the nearest of the runs beside it, or in runs/, or some.
string other_runs(const fs::path& run) {
  vector<string> names = names_of_runs(folder_of(run));
  if (names.empty()) names = names_of_runs("runs");
  if (names.empty()) return "check the path";
  const string near = nearest(run.filename().string(), names);
  return near.empty() ? "a run that heed runs lists: " + some_of(names) : near;
}

// The checkpoints folder, or an Error that says what `run` is instead.
fs::path checkpoints_of(const fs::path& run) {
  if (!path_exists(run)) throw store_error("no run at {}", quoted_path(run)).hint(other_runs(run));
  if (path_exists(run / kCheckpoints)) return run / kCheckpoints;
  const bool of_checkpoint = is_checkpoint(run) || is_checkpoint(folder_of(run));
  if (const string other = of_checkpoint ? "" : other_program(run); !other.empty())
    throw_other_program(run, other, Exit::store);
  throw store_error("{} is not a run folder: it has no checkpoints/", quoted_path(run))
      .hint(of_checkpoint ? "the folder that has checkpoints/ in it, or this checkpoint's own"
            : fs::is_regular_file(run) ? "heed train " + shell_word(run) + ", if it is a text"
                                       : "check the path");
}

// As written_out(), and without links, which may be switched while their folder is being read.
fs::path canonical_folder(const fs::path& folder) {
  error_code error;
  const fs::path path = fs::canonical(folder, error);
  return error ? written_out(folder) : path;
}

fs::path pinned(const fs::path& folder) {
  return fs::is_symlink(folder, ignored()) ? canonical_folder(folder) : folder;
}

// Where the link best or last leads, which must be to a step of the run's own. A copy of a run may
// lack it, or have a folder or a text in its place, and a kill may have taken away what it led to:
// then what the link would say. Nothing if the run has no checkpoints.
optional<fs::path> linked_checkpoint(const fs::path& run, const string& which) {
  const fs::path link = run / kCheckpoints / which;
  error_code error;
  if (fs::is_symlink(link, error) && fs::exists(link, error)) {
    const fs::path target = fs::read_symlink(link, error);
    if (error) throw_file_error("read the link", link, error.value());
    const fs::path folder = link.parent_path() / target;
    if (is_step(target) && type_of(folder) == fs::file_type::directory) return folder;
    throw store_error("{}: it leads to {}, expected a step beside it; {}", link.string(),
                      quoted_path(target), what_exists(link.parent_path()))
        .hint("--checkpoint with one of these");
  }
  const vector<int64_t> steps = list_steps(run);
  if (steps.empty()) return nullopt;
  const auto best = which == "best" ? best_of(states_of(run)) : nullopt;
  return step_folder(run, best ? best->step : steps.back());
}

// "NAME.old-2": of a run that --force renamed.
bool is_old(const string& name) {
  const size_t at = name.rfind(kOldRun);
  return at != name.npos && at + kOldRun.size() < name.size() &&
         name.find_first_not_of("0123456789", at + kOldRun.size()) == name.npos;
}

}  // namespace

fs::path written_out(const fs::path& folder) {
  const fs::path path = fs::absolute(folder, ignored()).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

vector<string> names_of_runs(const fs::path& folder, bool old) {
  vector<string> names = readable_names(folder);
  erase_if(names, [&](const string& name) {
    return name.starts_with('.') || (!old && is_old(name)) ||
           !is_folder(folder / name / kCheckpoints);
  });
  return names;
}

string step_folder_name(int64_t step) {
  return fmt::format("{}{:08}", kStepPrefix, step);
}

fs::path step_folder(const fs::path& run, int64_t step) {
  return run / kCheckpoints / step_folder_name(step);
}

vector<int64_t> list_steps(const fs::path& run) {
  vector<int64_t> steps;
  // (A folder whose checkpoints are replaced while it is listed may seem empty.)
  for (int left = 3; steps.empty() && left > 0; --left)
    for (const string& name : names_in(checkpoints_of(run)))
      if (is_step(name)) steps.push_back(*parse_step(name));
  ranges::sort(steps);
  return steps;
}

bool is_better(const State& one, const State& other) {
  const bool neither = isnan(one.valid_loss) && isnan(other.valid_loss);
  if (neither || isnan(one.valid_loss + other.valid_loss))
    return neither ? one.step > other.step : isnan(other.valid_loss);
  if (one.valid_metric != other.valid_metric && !isnan(one.valid_metric + other.valid_metric))
    return one.valid_metric > other.valid_metric;
  return one.valid_loss != other.valid_loss ? one.valid_loss < other.valid_loss
                                            : one.step < other.step;
}

State best_so_far(const State& checkpoint) {
  State best = checkpoint;
  best.step = checkpoint.best_step;
  best.valid_loss = checkpoint.best_loss;
  best.valid_metric = checkpoint.best_metric;
  return best;
}

optional<State> best_of(const vector<State>& states) {
  const auto best = ranges::min_element(states, is_better);
  return best == states.end() ? nullopt : optional(*best);
}

vector<State> states_of(const fs::path& run, int64_t up_to) {
  vector<State> states;
  for (const int64_t step : list_steps(run)) try {
      if (step <= up_to) states.push_back(read_state(step_folder(run, step)).state);
    } catch (const Unreadable&) {
      if (path_exists(step_folder(run, step))) throw;
    } catch (const Error&) {
    }
  return states;
}

StateFile read_state(const fs::path& checkpoint) {
  const fs::path file = checkpoint / kStateFile, place = written_out(checkpoint);
  if (!is_listed(file)) throw store_error("{}: it is missing", file.string());
  StateFile found = parse_state(read_file(file, kMaxStateFile), file);
  const string name = place.filename(), step = to_string(found.state.step);
  const bool of_step = name.starts_with(kStepPrefix), of_average = name.starts_with(kAveragePrefix);
  if (place.parent_path().filename() != kCheckpoints || (!of_step && !of_average)) return found;
  if (type_of(place) == fs::file_type::symlink)
    throw store_error("{}: it is a link, expected a folder", place.string());
  const bool right = of_step ? name == step_folder_name(found.state.step) && found.training
                             : name.ends_with("-" + step) && !found.training;
  if (!right)
    throw store_error("{}: it is of step {}{}, and its folder is called {}", file.string(), step,
                      found.training ? "" : ", without the optimizer's state", name);
  return found;
}

fs::path find_checkpoint(const fs::path& run, const string& which) {
  if (which.empty() && is_checkpoint(run)) {
    // As Hugging Face's models are; one in checkpoints/ has lost it.
    if (!fs::exists(run / kStateFile, ignored()) &&
        canonical_folder(run).parent_path().filename() != kCheckpoints)
      throw_other_program(run, kModelFile, Exit::store);
    return pinned(run);
  }
  const fs::path checkpoints = checkpoints_of(run);
  const optional<int64_t> step = parse_step(which);
  if (which.empty() || which == "best" || which == "last") {
    const auto found = linked_checkpoint(run, which.empty() ? "best" : which);
    if (found) return *found;
  } else {
    const string name = step ? step_folder_name(*step) : which;
    const bool is_name = !which.starts_with('.') && which.find('/') == which.npos;
    for (const fs::path& folder : {checkpoints / name, run / kRewound / name})
      if (is_name && type_of(folder) == fs::file_type::directory) return folder;
    if (is_checkpoint(which)) return pinned(which);
  }
  const vector<int64_t> steps = list_steps(run);
  throw store_error("no checkpoint{}{} in {}; {}", which.empty() ? "" : " ", which,
                    quoted_path(run), what_exists(checkpoints))
      .hint(step && !steps.empty() && *step < steps.back()
                ? fmt::format("heed rewind {} {}", shell_word(run), *step)
                : "");
}

string same_models(const vector<string>& runs) {
  map<string, string> names;  // of each SHA-256
  vector<string> same;
  for (const string& run : runs) try {
      const StateFile state = read_state(find_checkpoint(run));
      const auto [first, added] = names.emplace(state.files.at(kModelFile), run);
      if (!added) same.push_back(fmt::format("{} and {} are the same model", first->second, run));
    } catch (const Error&) {
    }
  return joined(same);
}

string checkpoint_name(const fs::path& checkpoint) {
  return canonical_folder(checkpoint).filename();
}

fs::path run_of_checkpoint(const fs::path& checkpoint) {
  return canonical_folder(checkpoint).parent_path().parent_path();
}

}  // namespace heed
