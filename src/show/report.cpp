#include "show/page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/format.h"
#include "base/std_names.h"
#include "data/run_config.h"
#include "evaluate/figures.h"
#include "show/advice.h"
#include "show/learning_record.h"
#include "store/checkpoint.h"
#include "store/model.h"
#include "store/run_folder.h"

namespace heed {
namespace {

fs::path folder_of_run(const string& run) {  // or of one of its checkpoints
  const fs::path its = run_of_checkpoint(run);
  return is_checkpoint(run) && is_folder(its / kCheckpoints) ? its : fs::path(run);
}

// Adds how many parameters a checkpoint's model has, and the loss of guessing.
void add_sizes(const Checkpoint& checkpoint, const RunConfig& config, Json& data) {
  const Tokenizers tokenizers = Tokenizers::load(checkpoint.tokenizers, checkpoint.folder);
  const Tokenizer& target = *tokenizers.target;
  data["parameter_count"] =
      Transformer(config.model, tokenizers.source().size(), target.size()).table.size();
  data["uniform"] = std::log(target.size() - ssize(make_objective(config)->never_written(target)));
}

// The loss of a frame's step: its own, else that of the event of the step, else null.
template <class Event>
Json loss_of(const Frame& frame, double own, const vector<Event>& events) {
  const auto found = ranges::find(events, frame.step, &Event::step);
  return isnan(own) && found != events.end() ? found->loss : own;
}

// Adds the probe and its frames. All of these have maps, or none.
void add_frames(const RecordedFrames& recorded, const LoggedEvents& logged, Json& data) {
  const vector<MapKind>& kinds = recorded.probe.kinds;
  data["kinds"] = kinds;
  data["prompts"] = recorded.probe.prompts;
  data["expected"] = recorded.probe.expected;
  if (recorded.probe.follows) data["follows"] = *recorded.probe.follows;
  data["frames"] = Json::array();
  for (const Frame& frame : recorded.frames) {
    if (frame.weights.empty() != recorded.frames.back().weights.empty()) continue;
    Json words = Json::object();
    vector<KindInWords> in_words = frame.words.value_or(vector<KindInWords>());
    in_words.resize(kinds.size());
    for (size_t i = 0; i < kinds.size(); ++i) {
      const auto& [first, heads] = in_words[i];
      words[kinds[i].name] = heads;
      data["first"][kinds[i].name] = {{"layer", first / kinds[i].heads},
                                      {"head", first % kinds[i].heads}};
    }
    data["frames"].push_back(Json{{"step", frame.step},
                                  {"loss", loss_of(frame, frame.valid_loss, logged.valid)},
                                  {"train_loss", loss_of(frame, frame.train_loss, logged.train)},
                                  {"probe_loss", frame.probe_loss},
                                  {"weights", frame.weights},
                                  {"pull", frame.pull.value_or(vector<PackedPull>())},
                                  {"heads", frame.heads.value_or(vector<HeadName>())},
                                  {"words", words},
                                  {"written", frame.written}});
  }
  const Json learning = learning_json(recorded.frames);
  data["learning"] = learning;
  data["last_move"] = last_move(learning);
}

// The steps of the events, and a list for each figure.
template <class Event, class... Figures>
Json columns(const vector<Event>& events, const Figures&... figures) {
  Json table{{"steps", mapped(events, &Event::step)}};
  const auto add = [&](const char* name, auto figure) {
    table[name] = mapped(events, [&](const Event& event) {
      const optional<double> x = event.*figure;
      return x ? Json(*x) : Json();
    });
  };
  (add(figures.first, figures.second), ...);
  return table;
}

// {"train": {...}, "valid": {...}}: the steps, and a list for each figure with null where there is
// none. Pages draw a training loss in the middle of the steps that it is of, and of very many
// points some, with every spike.
Json curves_json(const LoggedEvents& logged) {
  return {{"train", columns(logged.train, pair("gradient_norm", &TrainEvent::gradient_norm),
                            pair("learning_rate", &TrainEvent::learning_rate),
                            pair("from", &TrainEvent::from), pair("minutes", &TrainEvent::minutes),
                            pair("loss", &TrainEvent::loss),
                            pair("tokens_per_second", &TrainEvent::tokens_per_second))},
          {"valid", columns(logged.valid, pair("accuracy", &ValidEvent::accuracy),
                            pair("bits_per_byte", &ValidEvent::bits_per_byte),
                            pair("loss", &ValidEvent::loss), pair("metric", &ValidEvent::metric))}};
}

// How the training losses of a run are measured, compared with the held-out ones.
string training_loss_note(const RunConfig& c) {
  return string(
             "A training loss is the mean over the steps since the log's line before, drawn in "
             "their middle; held-out losses are those of the weights at their step") +
         (c.train.ema_decay > 0 ? ", averaged (train.ema_decay)" : "") +
         (has_dropout(c.model) ? ", without the dropout of training: they can be lower." : ".");
}

}  // namespace

Json report(const string& run) {
  const fs::path folder = folder_of_run(run);
  const auto [newest, damaged] = newest_checkpoint(folder, kAnyStep, false);
  if (!newest && !damaged.empty())
    throw store_error("no checkpoint of {} is intact.", quoted_path(folder))
        .hint("heed verify " + shell_word(folder.string()) + ", which says what is wrong");
  const int64_t up_to = newest ? newest->state.step : kAnyStep;
  const Run stored = read_run(folder, up_to);
  const LoggedEvents& logged = stored.logged;
  const RecordedFrames recorded = read_frames(folder, up_to);
  const RunConfig config = newest ? checkpoint_config(*newest) : stored.config;
  auto notes = mapped(damaged, [](const auto& d) { return "Skipped: " + d.reason; });
  if (const string now = still_training(folder); !now.empty()) notes.push_back(now + ".");
  int64_t last_step = up_to;
  if (!newest) {
    notes.push_back("The run has no checkpoint yet: this is what it has logged.");
    if (logged.train.empty() && recorded.frames.empty())
      throw store_error("{} has neither a checkpoint nor a line of what it learnt yet.",
                        quoted_path(folder));
    last_step = logged.train.empty() ? 0 : logged.train.back().step;
    if (!recorded.frames.empty()) last_step = max(last_step, recorded.frames.back().step);
    if (!logged.events.empty() && logged.events.back().event == "diverged")
      notes.push_back(logged.events.back().text);  // why it ended
  }
  if (!recorded.frames.empty() && !config.data.has_validation())
    notes.push_back("Nothing was held out: the texts are training data.");
  const Figure* metric = selecting_figure(config.train.select_by);
  const State best = stored.best.value_or(State());

  Json data{{"run", run},
            {"last_step", last_step},
            {"parameter_count", 0},
            {"uniform", 0},
            {"best_loss", best.valid_loss},
            {"best", {{"step", best.step}, {"by_metric", isfinite(best.valid_metric)}}},
            {"notes", notes}};
  if (newest) add_sizes(*newest, config, data);
  add_frames(recorded, logged, data);
  data.update(curves_json(logged));
  data["yardsticks"] = logged.yardsticks;
  data["overfitting"] = overfitting(logged);
  const Advice advice = advise(stored);
  data["advice"] = {{"text", advice.text}, {"command", advice.command}};
  data["training_loss_note"] = training_loss_note(config);
  data["metric"] = metric ? Json(metric->title) : Json();
  data["config"] = newest ? newest->config : dump_config(config);
  return data;
}

Json without_maps(Json report) {
  for (const char* of_page : {"kinds", "first", "follows", "last_move"}) report.erase(of_page);
  report["config"] = Json::parse(report["config"].get<string>());
  for (Json& frame : report["frames"])
    for (const char* maps : {"weights", "pull"}) frame.erase(maps);
  return report;
}

Json comparison(const vector<string>& names) {
  Json compared = Json::array();
  vector<ConfigKeys> keys;
  bool any = false;  // a curve: a run may have ended before its first line
  for (const string& name : names) {
    const Run run = read_run(folder_of_run(name));
    keys.push_back(keys_of(run.config));
    for (const char* key : kOfThisProcess) keys.back().erase(fmt::format("train.{}", key));
    any = any || !run.logged.train.empty() || !run.logged.valid.empty();
    compared.push_back({{"run", name},
                        {"best_step", run.best ? Json(run.best->step) : Json()},
                        {"best_loss", run.best ? Json(run.best->valid_loss) : Json()},
                        {"keys", nullptr}});
    compared.back().update(curves_json(run.logged));
  }
  if (!any) throw store_error("none of the runs has logged anything yet.");
  keep_differences(mapped(keys, [](ConfigKeys& some) { return &some; }));
  for (size_t i = 0; i < keys.size(); ++i) compared[i]["keys"] = keys[i];
  return compared;
}

}  // namespace heed
