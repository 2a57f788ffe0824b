// What `heed report` shows of a run: its losses, and where the model looks and what it writes as it
// learns, for one fixed piece of the held-out text (show/film.h). The frames are those of the run's
// film and of its newest checkpoint. Never writes to the run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "evaluate/yardsticks.h"
#include "show/film.h"
#include "show/loss_curves.h"
#include "show/parameters.h"

namespace heed {

struct Report {
  std::string run;  // as the user wrote it
  std::filesystem::path folder;
  std::string config;  // text of config.json
  LossCurves curves;
  Yardsticks yardsticks;
  FilmFile film;                         // empty if there is none and the data cannot be read
  std::vector<ParameterRow> parameters;  // of the last step
  std::int64_t last_step = 0;
  State best;                       // of the best checkpoint
  std::size_t parameter_count = 0;  // 0: not known without a checkpoint
  double uniform = 0;               // the loss of guessing; 0: not known without a checkpoint
  std::vector<std::string> notes;   // what was left out, and why
};

// `run` is a run folder; one that has not saved yet shows what it has logged. Error (Exit::store)
// if it has only damaged checkpoints, or nothing to show.
Report make_report(const std::string& run);

std::string report_page(const Report& report);  // web/report.html
// One line: what the page shows, without its attention maps.
std::string report_json(const Report& report);

}  // namespace heed
