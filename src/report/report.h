// What `heed report` shows of a run besides its metrics: at every kept checkpoint where the model
// looks and what it writes, for one fixed piece of the held-out text.
//
// The first of the steps is the model before training, as a control. Only reads. Owns everything.
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
  std::string run;  // as the user called it
  std::filesystem::path folder;
  std::string config;                          // text of config.json
  std::vector<std::string> prompts, expected;  // what is to be continued, translated, filled in
  InputTokens tokens;                          // of the maps
  std::vector<ReportStep> steps;               // empty if the data cannot be read any more
  std::vector<ParameterRow> parameters;        // of the last step
  std::int64_t last_step = 0, best_step = -1;
  bool best_by_bleu = false;  // or by loss
  std::size_t parameter_count = 0;
  std::vector<std::string> notes;  // what was left out, and why
};

// Maps have at most so many tokens a side, and at most so many steps are shown.
inline constexpr int kReportTokens = 28;
inline constexpr std::size_t kReportSteps = 12;

// At most `n` of `size` indices, evenly, the first and the last among them.
std::vector<std::size_t> spread_indices(std::size_t size, std::size_t n);

// `run` is a run folder. Error (Exit::store) if it has no whole checkpoint.
Report make_report(const std::string& run);

}  // namespace heed
