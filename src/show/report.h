// What `heed report` shows of a run: its losses, and where the model looks and what it writes as it
// learns, for one fixed piece of the held-out text. Reads the run's records, its states and its
// config, no weights and no data, and never writes to the run.
#pragma once

#include <string>
#include <vector>

#include "base/std_names.h"
#include "show/page.h"

namespace heed {

// The data of web/report.html. `run` is a run folder; one that has not saved yet shows what it has
// logged. Error (Exit::store) if it has nothing to show.
Json report(const string& run);

// One line: what the page shows, without its attention maps.
string report_json(Json report);

// Of several runs: their curves in one chart, and the config keys in which they differ. An object
// for each, the data of web/comparison.html: {"run", "best_step", "best_loss", "keys", "train",
// "valid"}. Error (Exit::store) if one is no run, or has logged nothing yet.
Json comparison(const vector<string>& runs);

}  // namespace heed
