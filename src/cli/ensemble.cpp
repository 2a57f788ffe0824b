// Models that predict together: --with of the commands that ask a model.
#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "data/split.h"
#include "evaluate/test_text.h"

namespace heed {

void CommandLine::add_with() {
  add_list("--with", with,
           "predict together with this run's best (may be repeated): the mean of the probabilities",
           "RUN")
      ->transform(run_finder());
}

vector<KeyChange> misfits(const RunConfig& first, const RunConfig& other) {
  const auto learned = [](const RunConfig& c) { return c.model.positions == Positions::learned; };
  const auto matters = [&](const string& key) {
    if (key == "model.encoder_layers")
      return (first.model.encoder_layers > 0) != (other.model.encoder_layers > 0);
    if (key == "model.positions") return learned(first) != learned(other);
    if (key == "model.max_length") return learned(first) && learned(other);
    return key == "data.lowercase" || key == "data.normalize" ||
           (key.starts_with("objective.") && key != "objective.label_smoothing");
  };
  vector<KeyChange> changes = changed_keys(first, other);
  erase_if(changes, [&](const KeyChange& change) { return !matters(change.key); });
  return changes;
}

void open_others(OpenModel& m) {
  for (const string& with : m.line.with) {
    const Model& other = m.others.emplace_back(load_model(with, ""));
    vector<string> differ = mapped(misfits(m.config, other.config), in_words);
    if (differ.empty() && other.tokenizers.files() != m.tokenizers.files())
      differ.push_back("another vocabulary: tokenizer");
    if (!differ.empty())
      throw usage_error("--with {} does not fit: {}.", with, joined(differ))
          .hint("runs that differ in seed, shape or training");
  }
}

Json report_others(OpenModel& m, const Split& split) {
  Json names;
  for (const Model& other : m.others) {
    if (const auto leak = leaks(training_lines(other.folder.string()), split.facts); !leak.empty())
      m.log.warn(leak + " of " + other.run);
    names.push_back(other.run);
  }
  return names;
}

}  // namespace heed
