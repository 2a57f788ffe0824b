// The text that models are measured on: what their run held out, or what a user names. Reading it
// tells the log what must be known of it: that the data has changed since the model was trained,
// which of its lines the model was trained on, what became <unk>.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "data/dataset.h"
#include "store/model.h"

namespace heed {

// The data of the model's run, where RUN/config.json names it now (config_of_data()).
struct RunData : Dataset {
  std::string change;  // says that it is not what the run was trained on, or ""
};
RunData run_data(Model& model);

// The lines, or pairs, of the training data of `run` and of the runs whose weights it began with,
// as far as they can still be read; beside those that are `read` already.
struct TrainingLines : LineFacts {
  std::string missing;  // why not all are here, or ""
};
TrainingLines training_lines(std::string run, LineFacts read = {});

// What a user names, for one model or several.
struct NamedText {
  std::vector<std::string> files = {}, target_files = {};  // none: what each run held out
  std::optional<Pairs> pairs = {};  // as they are written: read once, as they may come from a pipe
  std::set<std::string> told = {};  // to the log
};
const Pairs& written_pairs(const Model& model, NamedText& named);

struct TestText {
  Split split;
  std::optional<RunData> run;  // without `valid`, if that is it; none: it cannot be read
  double seen = 0;             // the share of its lines, or pairs, that the model was trained on
};
// Error (usage) if nothing is named or held out, or the model reads no such files.
TestText test_text(Model& model, NamedText& named, const Pool& pool, Log& log);

}  // namespace heed
