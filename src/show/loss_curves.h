// The two loss curves of a run, and why they do not measure quite the same quantity.
#pragma once

#include <string>
#include <vector>

#include "data/run_config.h"
#include "show/page.h"
#include "store/run_records.h"

namespace heed {

// {"train": {...}, "valid": {...}}: the steps, and a list for each figure with null where there is
// none. Pages draw a training loss in the middle of the steps that it is of, and of very many
// points some, with every spike.
Json curves_json(const LoggedEvents& logged);

// How the training losses of a run are measured, compared with the held-out ones.
std::string training_loss_note(const RunConfig& config);

}  // namespace heed
