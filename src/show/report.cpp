#include "show/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/format.h"
#include "data/run_config.h"
#include "evaluate/figures.h"
#include "show/advice.h"
#include "show/head_words.h"
#include "show/learning_record.h"
#include "show/loss_curves.h"
#include "show/packed_maps.h"
#include "store/best.h"
#include "store/checkpoint.h"
#include "store/layout.h"
#include "store/run_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

fs::path folder_of_run(const std::string& run) {  // or of one of its checkpoints
  if (!is_checkpoint(run)) return run;
  const fs::path folder = run_of_checkpoint(run);
  if (!fs::is_directory(folder / kCheckpoints))
    throw Error(Exit::store,
                fmt::format("{} is a checkpoint outside its run, which has logged what it learnt.",
                            quoted_path(run)),
                "heed attend " + shell_word(run) + " TEXT --html FILE");
  return folder;
}

// What the run has saved, and how far its records are shown.
struct Saved {
  std::int64_t last_step = kAnyStep;  // of its last checkpoint, if it has one
  State best;                         // of the best one
  std::string config;                 // text of config.json
  std::size_t parameter_count = 0;    // 0: not known
  double uniform = 0;                 // the loss of guessing; 0: not known
  std::vector<std::string> notes;     // what was left out, and why
};

// The texts of a checkpoint and what follows from them.
void describe(const fs::path& checkpoint, Saved& saved) {
  const CheckpointTexts texts = read_texts(checkpoint);
  const RunConfig config = parse_config(texts.config, (checkpoint / kConfigFile).string());
  const Tokenizers tokenizers = Tokenizers::load(texts.tokenizers, checkpoint);
  const Tokenizer& target = *tokenizers.target;
  saved.parameter_count =
      Transformer(config.model, tokenizers.source().size(), target.size()).table.size();
  saved.uniform =
      std::log(target.size() - std::ssize(make_objective(config)->never_written(target)));
  saved.config = texts.config;
}

Saved read_saved(const fs::path& run) {
  Saved saved;
  const std::vector<State> states = states_of(run);
  const std::vector<std::int64_t> steps = list_steps(run);
  if (states.size() < steps.size())
    saved.notes.push_back(
        "Skipped: a checkpoint whose state.json cannot be read; heed verify says why.");
  for (auto state = states.rbegin(); state != states.rend() && saved.config.empty(); ++state) try {
      describe(run / kCheckpoints / step_folder_name(state->step), saved);
      saved.last_step = state->step;
      if (const auto best = best_checkpoint(run, state->step)) saved.best = *best;
    } catch (const Error& e) {
      saved.notes.push_back(std::string("Skipped: ") + e.what());
    }
  if (!saved.config.empty()) return saved;
  if (!steps.empty())
    throw Error(Exit::store, fmt::format("no checkpoint of {} is intact.", quoted_path(run)),
                "heed verify " + shell_word(run.string()) + ", which says what is wrong");
  saved.config = dump_config(config_of_run(run));
  saved.notes.push_back("The run has no checkpoint yet: this is what it has logged.");
  return saved;
}

// The loss of a frame's step: its own, else that of the event of the step, else null.
template <class Event>
Json loss_of(const Frame& frame, double Frame::*own, const std::vector<Event>& events) {
  const auto found = std::ranges::find(events, frame.step, &Event::step);
  const bool logged = std::isnan(frame.*own) && found != events.end();
  return logged ? found->loss : frame.*own;
}

// Adds the probe and its frames. All of these have maps, or none.
void add_frames(const RecordedFrames& recorded, const LoggedEvents& logged, Json& data) {
  data["kinds"] = recorded.probe.kinds;
  data["prompts"] = recorded.probe.prompts;
  data["expected"] = recorded.probe.expected;
  if (recorded.probe.follows) data["follows"] = *recorded.probe.follows;
  data["frames"] = Json::array();
  for (const Frame& frame : recorded.frames) {
    const bool has_maps = !frame.weights.empty();
    if (has_maps == recorded.frames.back().weights.empty()) continue;
    const ShownMaps shown = has_maps ? unpacked(recorded.probe, frame) : ShownMaps();
    Json words = Json::object();
    const std::vector<HeadInWords> heads = heads_in_words(shown.tokens, shown.maps);
    for (const HeadInWords& head : heads)
      words[attention_name(head.kind)].push_back(head.sentence());
    for (const AttentionKind kind : kAttentionKinds) {
      const HeadInWords first = clearest_head(heads, kind);
      data["first"][attention_name(kind)] = {{"layer", first.layer}, {"head", first.head}};
    }
    data["frames"].push_back(Json{{"step", frame.step},
                                  {"loss", loss_of(frame, &Frame::valid_loss, logged.valid)},
                                  {"train_loss", loss_of(frame, &Frame::train_loss, logged.train)},
                                  {"probe_loss", frame.probe_loss},
                                  {"weights", frame.weights},
                                  {"pull", frame.pull.value_or(std::vector<PackedPull>())},
                                  {"heads", frame.heads.value_or(std::vector<HeadName>())},
                                  {"words", words},
                                  {"written", frame.written}});
  }
  const Json learning = learning_json(recorded.frames);
  data["learning"] = learning;
  data["last_move"] = last_move(learning);
}

}  // namespace

Json report(const std::string& run) {
  const fs::path folder = folder_of_run(run);
  Saved saved = read_saved(folder);
  const bool has_saved = saved.last_step < kAnyStep;
  const LoggedEvents logged = read_events(folder, saved.last_step);
  RecordedFrames recorded = read_frames(folder, saved.last_step);
  if (recorded.frames.empty()) recorded = {};
  std::int64_t last_step = has_saved ? saved.last_step : 0;
  if (!has_saved) {
    if (logged.train.empty() && recorded.frames.empty())
      throw Error(Exit::store,
                  fmt::format("{} has neither a checkpoint nor a line of what it learnt yet.",
                              quoted_path(folder)));
    for (const TrainEvent& event : logged.train) last_step = std::max(last_step, event.step);
    for (const Frame& frame : recorded.frames) last_step = std::max(last_step, frame.step);
    if (!logged.events.empty() && logged.events.back().event == "diverged")
      saved.notes.push_back(logged.events.back().text);  // why it ended
  }
  const RunConfig config = parse_config(saved.config, "config.json");
  if (!recorded.frames.empty() && !config.data.has_validation())
    saved.notes.push_back("Nothing was held out: the texts are training data.");
  const Figure* metric = selecting_figure(config.train.select_by);

  Json data{
      {"run", run},
      {"last_step", last_step},
      {"parameter_count", saved.parameter_count},
      {"best_loss", saved.best.valid_loss},
      {"best", {{"step", saved.best.step}, {"by_metric", std::isfinite(saved.best.valid_metric)}}},
      {"notes", saved.notes}};
  add_frames(recorded, logged, data);
  data.update(curves_json(logged));
  data["yardsticks"] = logged.yardsticks;
  data["uniform"] = saved.uniform;
  data["overfitting"] = overfitting(logged, config.train.patience > 0);
  const Advice advice = advice_on(folder, &logged);
  data["advice"] = {{"text", advice.text}, {"command", advice.command}};
  data["training_loss_note"] = training_loss_note(config);
  data["metric"] = metric ? Json(metric->title) : Json();
  data["config"] = saved.config;
  return data;
}

std::string report_json(Json report) {
  for (const char* of_page : {"kinds", "first", "follows", "last_move"}) report.erase(of_page);
  report["config"] = Json::parse(report["config"].get<std::string>());
  for (Json& frame : report["frames"])
    for (const char* maps : {"weights", "pull"}) frame.erase(maps);
  return short_text(report) + "\n";
}

Json comparison(const std::vector<std::string>& runs) {
  Json compared = Json::array();
  std::vector<ConfigKeys> keys;
  bool any = false;  // a curve: a run may have ended before its first line
  for (const std::string& run : runs) {
    const fs::path folder = folder_of_run(run);
    const auto best = best_checkpoint(folder);  // Error if it is no run
    keys.push_back(keys_of(config_of_run(folder)));
    const LoggedEvents logged = read_events(folder);
    any = any || !logged.train.empty() || !logged.valid.empty();
    compared.push_back({{"run", run},
                        {"best_step", best ? Json(best->step) : Json()},
                        {"best_loss", best ? Json(best->valid_loss) : Json()},
                        {"keys", Json::object()}});
    compared.back().update(curves_json(logged));
  }
  if (!any) throw Error(Exit::store, "none of the runs has logged anything yet.");
  std::vector<ConfigKeys*> all;
  for (ConfigKeys& some : keys) all.push_back(&some);
  keep_differences(all);
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (const auto& [key, value] : keys[i]) compared[i]["keys"][key] = value;
  return compared;
}

}  // namespace heed
