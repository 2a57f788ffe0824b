// A run's parts, ready for its first step: everything is read and checked before training writes a
// file.
#pragma once

#include <memory>
#include <string>

#include "base/pool.h"
#include "data/dataset.h"
#include "data/run_config.h"
#include "nn/transformer.h"
#include "train/memory.h"

namespace heed {

struct PreparedRun {
  RunConfig config;
  Tokenizers tokenizers;
  Dataset data;
  Transformer model;
  MemoryPlan memory;
  std::unique_ptr<Pool> pool;  // the threads to train with
};

// `folder`: where relative paths of the config's data start. Empty tokenizers are trained.
// `threads` 0: as in the config. Error (data) from the files; Error (memory) if the training cannot
// fit, or if threads do not start.
PreparedRun prepare_run(const RunConfig& config, const std::string& folder, Tokenizers tokenizers,
                        int threads);

}  // namespace heed
