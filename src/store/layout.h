// Where things are in a run folder (RUN/config.json, RUN/checkpoints/step-00001000/state.json), and
// which folder is one. Nothing here throws.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/std_names.h"

namespace heed {

inline constexpr const char* kCheckpoints = "checkpoints";
inline constexpr const char* kConfigFile = "config.json";  // of a run, and of each checkpoint
inline constexpr const char* kOriginFile = "origin.json";
inline constexpr const char* kMetrics = "metrics.jsonl";
inline constexpr const char* kFilm = "film.jsonl";
inline constexpr const char* kChain = "chain.jsonl";
inline constexpr const char* kTrainLog = "train.log";
inline constexpr const char* kRunText = "text.txt";  // what heed train read from standard input
inline constexpr const char* kTensorboard = "tensorboard";
inline constexpr const char* kLockFile = ".lock";
inline constexpr const char* kRunFiles[] = {kConfigFile, kOriginFile,  kMetrics,  kFilm, kTrainLog,
                                            kRunText,    kTensorboard, kLockFile, kChain};

inline constexpr uint64_t kMaxConfigFile = 16u << 20;

// Those that grow by a line (store/run_records.h).
inline constexpr const char* kLineFiles[] = {kMetrics, kFilm};

// Folders in checkpoints/ begin with one of these: step-00001000, average-100-500.
inline constexpr string_view kStepPrefix = "step-", kAveragePrefix = "average-";

inline constexpr string_view kOldRun = ".old-";  // NAME.old-K: the run before --force

// Of a checkpoint, with config.json and tokenizers.
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kTrainingFile = "training.safetensors";
inline constexpr const char* kStateFile = "state.json";

inline bool is_run(const fs::path& folder) {
  std::error_code none;
  return fs::is_directory(folder / kCheckpoints, none) && fs::exists(folder / kConfigFile, none);
}

// Also a damaged one.
inline bool is_checkpoint(const fs::path& folder) {
  std::error_code none;
  return fs::exists(folder / kStateFile, none) || fs::exists(folder / kModelFile, none);
}

// Would a file of this name damage a run or a checkpoint? Other files may be written beside a
// run's own.
inline bool is_part_of_run(const fs::path& file) {
  std::error_code none;
  const auto has = [&](const char* name) { return fs::exists(file.parent_path() / name, none); };
  return (has(kStateFile) && has(kModelFile)) ||
         (has(kCheckpoints) && std::ranges::count(kRunFiles, file.filename().string()) > 0);
}

}  // namespace heed
