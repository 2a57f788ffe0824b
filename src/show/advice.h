// What would make a run's model better: the one place that reads its curves and its plan for that.
// The last lines of a training, heed resume and the report say what this says.
// Its commands work as they stand.
#pragma once

#include <filesystem>
#include <string>

#include "base/std_names.h"
#include "store/run.h"

namespace heed {

// How often a model goes through its training data and still learns what holds elsewhere: 20 to 30
// times were best for decoders alone (docs/lab-book.md). Others see other masks, or pairs.
constexpr double useful_passes(bool decoder_alone) {
  return decoder_alone ? 25 : 60;
}

struct Advice {
  string text;     // for people; "" if there is nothing to say: it is good, or noise
  string command;  // that does it, or ""
  string way_on;   // what would train on, whether that is advisable or not
};

// Nothing of a run that is training, or has no checkpoint. Its folder is as commands name it.
Advice advise(const Run& run);

// The same, of a run to be read; nothing of one that is damaged.
Advice advice_on(const fs::path& folder);

// A sentence if held-out loss has begun to rise while training loss still falls, else "". It has if
// the last one is above the lowest: by 10 % if it is the next one, by 1 % if it is a later one.
// Training losses are compared as means of five, since each is measured on a few batches only.
// Held-out losses that are NaN do not count, and a model with the best metric so far is not worse.
string overfitting(const LoggedEvents& logged);

}  // namespace heed
