// What a run's two loss curves show: whether it overfits, and why they do not measure quite the
// same quantity.
#pragma once

#include <string>
#include <vector>

#include "data/run_config.h"
#include "show/page.h"
#include "store/run_records.h"

namespace heed {

// {"train": {...}, "valid": {...}}: the steps, and a list for each figure with null where there is
// none; of more than 4,000 lines some, with every spike. Pages draw a training loss in the middle of
// the steps that it is of.
ShortJson curves_json(const LoggedEvents& logged);

// A sentence if held-out loss has begun to rise while training loss still falls, else "". It has if
// the last one is above the lowest: by 10 % if it is the next one, by 1 % if it is a later one.
// Training losses are compared as means of five, since each is measured on a few batches only.
// Held-out losses that are NaN do not count.
std::string overfitting(const LoggedEvents& logged);

// How the training losses of a run are measured, compared with the held-out ones.
std::string training_loss_note(const RunConfig& config);

}  // namespace heed
