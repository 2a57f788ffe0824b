#include "show/report.h"

#include <fmt/core.h>

#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "data/dataset.h"
#include "store/best.h"
#include "store/initial_weights.h"
#include "store/layout.h"
#include "store/open_checkpoint.h"
#include "store/run_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

// Adds the newest checkpoint's frame, which the run's film lacks.
void add_last_frame(TrainedModel& last, std::vector<MatrixLearning> matrices, Report& report) {
  const Dataset data = load_dataset(last.config, data_folder(last), last.tokenizers);
  if (data.hash.all() != last.state.data_hash)
    report.notes.push_back("The data has changed since the run was trained.");
  const Film filming(last.config, last.model, last.tokenizers, data);
  if (filming.empty()) return;
  Json probe = Json::parse(filming.probe());
  FilmFile& film = report.film;
  if (!film.frames.empty() && film.probe != probe) return;
  film.probe = std::move(probe);
  film.frames.push_back(
      Json::parse(filming.frame({last.state.step, last.values, std::move(matrices)}).line));
}

// Of the trained weights, whose average is all that this model has with train.ema_decay: nothing.
std::vector<MatrixLearning> matrices_of(const TrainedModel& last, const ParamVec<float>& initial) {
  if (last.config.train.ema_decay > 0) return {};
  LearningRecord record(last.model.table);
  record.began_with(initial);
  Pool pool(1);
  return record.measure(last.values, pool);
}

void read_metrics(Report& report) {
  for_each_event(report.folder, [&](const Json& line) {
    if (line["step"] > report.last_step) return;
    if (report.yardsticks.empty()) report.yardsticks = yardsticks_of_event(line);
    if (auto event = event_from<ValidEvent>(line)) report.curves.held_out.push_back(*event);
    if (auto event = event_from<TrainEvent>(line)) report.curves.train.push_back(*event);
  });
}

}  // namespace

std::vector<std::size_t> spread_indices(std::size_t size, std::size_t n) {
  std::vector<std::size_t> at;
  if (size <= n) n = size;
  for (std::size_t i = 0; i < n; ++i) at.push_back(n == 1 ? size - 1 : i * (size - 1) / (n - 1));
  return at;
}

Report make_report(const std::string& run) {
  const fs::path folder = is_checkpoint(run) ? run_of_checkpoint(run) : fs::path(run);
  NewestCheckpoint newest = newest_checkpoint(folder);
  if (!newest.checkpoint)
    throw Error(Exit::store, fmt::format("no checkpoint of {} is intact.", quoted_path(folder)));
  Report report;
  report.run = run;
  report.folder = folder;
  for (const DamagedCheckpoint& d : newest.damaged) report.notes.push_back("Skipped: " + d.reason);
  TrainedModel last = load_trained_model(*newest.checkpoint);
  last.run = folder.string();
  report.config = newest.checkpoint->config();
  report.last_step = last.state.step;
  if (const auto best = best_checkpoint(folder)) {
    report.best_step = best->step;
    report.best_by_bleu = std::isfinite(best->valid_bleu);
  }
  report.parameter_count = last.model.table.size();
  const ParamVec<float> initial = initial_weights(last.model, last.config.seed, folder);
  report.parameters = parameter_table(last.model, last.values, initial);
  read_metrics(report);
  report.film = read_film(folder, report.last_step);
  try {
    // A whole film needs no data.
    if (report.film.last_step() < report.last_step)
      add_last_frame(last, matrices_of(last, initial), report);
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

}  // namespace heed
