#include "report/report.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/files.h"
#include "data/dataset.h"
#include "inspect/run_film.h"
#include "store/initial_weights.h"
#include "store/layout.h"
#include "store/open_checkpoint.h"
#include "store/run_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

// Adds the newest checkpoint's frame, which the run's film lacks.
void add_last_frame(TrainedModel& last, Report& report) {
  const Dataset data = load_dataset(last.config, data_folder(last), last.tokenizers);
  if (data.hash.all() != last.state.data_hash)
    report.notes.push_back("The data has changed since the run was trained.");
  const auto probing = make_film(last.config, last.model, last.tokenizers, data);
  if (!probing) return;
  Json probe = Json::parse(probing->probe());
  FilmFile& film = report.film;
  if (!film.frames.empty() && film.probe != probe) return;
  film.probe = std::move(probe);
  film.frames.push_back(Json::parse(probing->frame({last.state.step, last.values}).line));
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
  report.best_step = last.state.best_step;
  report.best_by_bleu = last.config.train.select_by == SelectBy::bleu;
  report.parameter_count = last.model.table.size();
  report.parameters = parameter_table(last.model, last.values,
                                      initial_weights(last.model, last.config.seed, folder));
  report.film = read_film(folder, report.last_step);
  try {
    // A whole film needs no data.
    if (report.film.last_step() < report.last_step) add_last_frame(last, report);
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
