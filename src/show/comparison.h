// What `heed report RUN RUN ...` shows: the curves of several runs in one chart, and the config
// keys in which they differ.
#pragma once

#include <string>
#include <vector>

#include "show/page.h"

namespace heed {

// An object for each run, the data of web/comparison.html: {"run", "best_step", "best_loss",
// "keys", "train", "valid"}. Error (Exit::store) if one is no run, or has logged nothing yet.
ShortJson comparison(const std::vector<std::string>& runs);

}  // namespace heed
