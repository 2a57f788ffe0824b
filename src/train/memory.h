// How much memory training will take, predicted before it starts.
#pragma once

#include <cstdint>

#include "data/run_config.h"
#include "nn/transformer.h"

namespace heed {

struct MemoryPlan {
  double parameters = 0;   // bytes: values, moments, average, one gradient per shard
  double activations = 0;  // of all threads
  double data = 0;         // token ids
  double record = 0;       // the learning record: copies of matrices, its forward pass
  double scoring = 0;      // forward passes of all threads: validation, the check before a save
  double total() const { return parameters + activations + data + record + scoring + base; }
  static constexpr double base = 40e6;  // libraries, BLAS buffers, tokenizer
};

// `longest` is the longest example in tokens; `ids` the bytes of the token ids.
MemoryPlan predict_memory(const Transformer& model, const RunConfig& config, int threads,
                          int longest, double ids);

// Bytes that may still be taken: the machine's available memory, or less in a control group.
double available_memory();

// Error (memory) if the plan does not fit.
void check_memory(const MemoryPlan& plan);

}  // namespace heed
