#include "show/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "data/dataset.h"
#include "evaluate/scorer.h"
#include "evaluate/translation_metric.h"
#include "show/head_names.h"
#include "show/page.h"
#include "store/best.h"
#include "store/initial_weights.h"
#include "store/layout.h"
#include "store/open_checkpoint.h"
#include "store/run_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

// Adds the newest checkpoint's frame, which the run's film lacks, or has without its maps.
void add_last_frame(TrainedModel& last, const ParamVec<float>& initial, Report& report) {
  const Dataset data = load_dataset(config_of_data(last), data_folder(last), last.tokenizers);
  if (data.hash.all() != last.state.data_hash)
    report.notes.push_back("The data has changed since the run was trained.");
  Film filming(last.config, last.model, last.tokenizers, data);
  if (filming.empty()) return;
  Json probe = Json::parse(filming.probe());
  FilmFile& film = report.film;
  if (!film.frames.empty() && film.probe != probe) return;
  film.probe = std::move(probe);
  filming.began_with(initial);
  Shot shot{.step = last.state.step,
            .values = last.values,
            .matrices = record_of(last.model.table, last.values, initial),
            .all_maps = true};
  if (film.last_step() == last.state.step) {
    if (auto known = learning_of(film.frames.back())) shot.matrices = std::move(known->matrices);
    film.frames.pop_back();
  }
  film.frames.push_back(Json::parse(filming.frame(shot).line));
}

void read_metrics(Report& report) {
  for_each_event(report.folder, [&](const Json& line) {
    if (report.parameter_count > 0 && line["step"] > report.last_step) return;
    if (report.yardsticks.empty()) report.yardsticks = yardsticks_of_event(line);
    report.curves.take(line);
    const auto event = event_from<RunEvent>(line);
    if (event && report.parameter_count == 0 && event->event != "start")
      report.notes.push_back(event->text);  // why it ended
  });
}

constexpr std::size_t kRecords = 40;  // of the learning record, at most

// The loss that the frame has, else that of the event of its step, else null.
template <class Event>
ShortJson loss_of(const Json& frame, const char* key, const std::vector<Event>& events) {
  if (const auto own = frame.find(key); own != frame.end() && own->is_number()) return *own;
  const auto found = std::ranges::find(events, frame["step"].get<std::int64_t>(), &Event::step);
  return found == events.end() ? ShortJson() : ShortJson(found->loss);
}

// At most `n` of `size` indices, evenly spread, with the first and the last.
std::vector<std::size_t> spread_indices(std::size_t size, std::size_t n) {
  std::vector<std::size_t> at;
  if (size <= n) n = size;
  for (std::size_t i = 0; i < n; ++i) at.push_back(n == 1 ? size - 1 : i * (size - 1) / (n - 1));
  return at;
}

ShortJson data_of(const Report& r) {
  const auto list = [&](const char* key) {
    return ShortJson(r.film.probe.value(key, Json::array()));
  };
  ShortJson data{{"kinds", list("kinds")}, {"frames", ShortJson::array()}};
  for (const Json& frame : r.film.frames) {
    if (frame["weights"].empty()) continue;
    const ShownMaps shown = unpacked(r.film.probe, frame);
    ShortJson words = ShortJson::object();
    for (const Json& head : heads_in_words(shown.tokens, shown.maps))
      words[head["kind"].get<std::string>()].push_back(head["sentence"].get<std::string>());
    for (const AttentionKind kind : kAttentionKinds) {
      const SharpestHead first =
          sharpest_head(map_of(shown.maps, kind), keys_of(shown.tokens, kind));
      data["first"][attention_name(kind)] = {{"layer", first.layer}, {"head", first.head}};
    }
    data["frames"].push_back(ShortJson{{"step", frame["step"].get<std::int64_t>()},
                                       {"loss", loss_of(frame, "valid_loss", r.curves.held_out)},
                                       {"train_loss", loss_of(frame, "train_loss", r.curves.train)},
                                       {"probe_loss", loss_of<TrainEvent>(frame, "probe_loss", {})},
                                       {"weights", ShortJson(frame["weights"])},
                                       {"pull", ShortJson(frame.value("pull", Json::array()))},
                                       {"heads", ShortJson(frame.value("heads", Json::array()))},
                                       {"words", words},
                                       {"written", ShortJson(frame["written"])}});
  }
  data["run"] = r.run;
  data["last_step"] = r.last_step;
  data["parameter_count"] = r.parameter_count;
  data["best_loss"] = r.best.valid_loss;
  data["best"] = {{"step", r.best.step}, {"by_metric", std::isfinite(r.best.valid_metric)}};
  data["notes"] = r.notes;
  data["prompts"] = list("prompts");
  data["expected"] = list("expected");
  data.update(json_of(r.curves));
  data["yardsticks"] = ShortJson(json_of(r.yardsticks));
  data["uniform"] = r.uniform;
  data["overfitting"] = overfitting(r.curves);
  const RunConfig config = parse_config(r.config, "config.json");
  data["training_loss_note"] = training_loss_note(config);
  const TranslationMetric* metric = translation_metric(config.train.select_by);
  data["metric"] = metric ? ShortJson(metric->title) : ShortJson();
  data["learning"] = ShortJson::array();
  const std::vector<LearningStep> learning = learning_steps(r.film);
  for (const std::size_t i : spread_indices(learning.size(), kRecords))
    data["learning"].push_back(ShortJson(json_of(learning[i])));
  data["parameters"] = json_of(r.parameters);
  data["config"] = r.config;
  return data;
}

// Of a run that has not saved yet: it still trains, was killed, or diverged.
Report report_of_log(Report report) {
  report.config = dump_config(load_config((report.folder / kConfigFile).string()));
  read_metrics(report);
  report.film = read_film(report.folder, std::numeric_limits<std::int64_t>::max());
  for (const auto& event : report.curves.train)
    report.last_step = std::max(report.last_step, event.step);
  report.last_step = std::max(report.last_step, report.film.last_step());
  if (report.curves.train.empty() && report.film.frames.empty())
    throw Error(Exit::store,
                fmt::format("{} has neither a checkpoint nor a line of what it learnt yet.",
                            quoted_path(report.folder)));
  report.notes.push_back("The run has no checkpoint yet: this is what it has logged.");
  return report;
}

// Error (diverged) if the weights are ruined: their logits are not finite.
void refuse_ruined(const TrainedModel& m) {
  Example start;
  if (m.model.has_encoder()) start.source = {Tokenizer::kBos};
  if (m.model.has_decoder()) start.target = {Tokenizer::kBos};
  start.labels = {Tokenizer::kEos};
  Pool alone(1);
  label_log_probs(m.model, m.values, {start}, alone);
}

}  // namespace

Report make_report(const std::string& run) {
  const fs::path folder = is_checkpoint(run) ? run_of_checkpoint(run) : fs::path(run);
  NewestCheckpoint newest = newest_checkpoint(folder);
  Report report;
  report.run = run;
  report.folder = folder;
  if (!newest.checkpoint && newest.damaged.empty()) return report_of_log(std::move(report));
  if (!newest.checkpoint)
    throw Error(Exit::store, fmt::format("no checkpoint of {} is intact.", quoted_path(folder)));
  for (const DamagedCheckpoint& d : newest.damaged) report.notes.push_back("Skipped: " + d.reason);
  TrainedModel last = load_trained_model(*newest.checkpoint);
  last.run = folder.string();
  refuse_ruined(last);
  report.config = newest.checkpoint->config();
  report.last_step = last.state.step;
  if (const auto best = best_checkpoint(folder, report.last_step)) report.best = *best;
  report.parameter_count = last.model.table.size();
  const Tokenizer& target = *last.tokenizers.target;
  report.uniform = std::log(target.size() - std::ssize(last.objective->never_written(target)));
  const ParamVec<float> initial = initial_weights(last.model, last.config.seed, folder);
  report.parameters = parameter_table(last.model, last.values, initial);
  read_metrics(report);
  report.film = read_film(folder, report.last_step);
  try {
    // A whole film needs no data.
    if (report.film.last_step() < report.last_step || report.film.frames.back()["weights"].empty())
      add_last_frame(last, initial, report);
  } catch (const Error& e) {
    if (e.exit() != Exit::data) throw;
    report.notes.push_back(fmt::format("{}, because the data cannot be read: {}",
                                       report.film.frames.empty()
                                           ? "No samples and no maps"
                                           : "Samples and maps as they were recorded",
                                       e.what()));
  }
  if (!report.film.frames.empty() && !last.config.data.has_validation())
    report.notes.push_back("Nothing was held out: the texts are training data.");
  return report;
}

std::string report_page(const Report& r) {
  return page_with(report_html, data_of(r));
}

std::string report_json(const Report& r) {
  ShortJson data = data_of(r);
  data.erase("kinds");
  data.erase("first");
  data["config"] = ShortJson::parse(r.config);
  for (ShortJson& frame : data["frames"])
    for (const char* maps : {"weights", "pull"}) frame.erase(maps);
  return text_of(data) + "\n";
}

}  // namespace heed
