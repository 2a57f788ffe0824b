// What `heed report` shows of a run besides its metrics: where the model looks and what it writes
// at every kept checkpoint, for one fixed piece of the held-out text.
//
// The first step is the model before training, as a control. Never writes to the run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "inspect/parameters.h"
#include "report/attention_json.h"

namespace heed {

struct ReportStep {
  std::int64_t step = 0;
  AttentionMaps maps;
  std::vector<std::string> written;  // for each prompt
};

struct Report {
  std::string run;  // as the user wrote it
  std::filesystem::path folder;
  std::string config;  // text of config.json
  std::vector<std::string> prompts,
      expected;                          // what the model continues, and the real continuation
  InputTokens tokens;                    // of the maps
  std::vector<ReportStep> steps;         // empty if the data can no longer be read
  std::vector<ParameterRow> parameters;  // of the last step
  std::int64_t last_step = 0, best_step = -1;
  bool best_by_bleu = false;  // else by loss
  std::size_t parameter_count = 0;
  std::vector<std::string> notes;  // what was left out, and why
};

inline constexpr int kReportTokens = 28;         // at most, on each side of the maps
inline constexpr std::size_t kReportSteps = 12;  // shown at most

// At most `n` of `size` indices, evenly spread, with the first and the last.
std::vector<std::size_t> spread_indices(std::size_t size, std::size_t n);

// `run` is a run folder. Error (Exit::store) if it has no intact checkpoint.
Report make_report(const std::string& run);

}  // namespace heed
