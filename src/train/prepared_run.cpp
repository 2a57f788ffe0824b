#include "train/prepared_run.h"

#include <algorithm>

#include "data/objective.h"
#include "evaluate/yardsticks.h"
#include "math/blas.h"
#include "store/trained_model.h"

namespace heed {
namespace {

int longest_example(const RunConfig& config, const Split& train) {
  const auto objective = make_objective(config);
  int longest = 1;
  Example e;
  const std::int64_t n = std::min<std::int64_t>(objective->count(train, 0), 20000);
  for (std::int64_t i = 0; i < n; ++i) {
    objective->example(train, 0, i, e);
    longest = std::max(longest, e.tokens());
  }
  return longest;
}

double id_bytes(const Split& split) {
  return static_cast<double>(split.source.size() * split.source.bytes_per_id() +
                             split.target.size() * split.target.bytes_per_id());
}

}  // namespace

PreparedRun prepare_run(const RunConfig& config, const std::string& folder, Tokenizers tokenizers,
                        int asked_threads) {
  Dataset data = load_dataset(config, folder, tokenizers);
  Transformer model(config.model, tokenizers.source().size(), tokenizers.target->size());
  const int threads = thread_count(asked_threads, config);
  MemoryPlan memory = predict_memory(model, config, threads, longest_example(config, data.train),
                                     id_bytes(data.train) + id_bytes(data.valid));
  check_memory(memory);
  if (config.data.has_validation())
    memory.yardsticks = yardsticks_memory(*make_objective(config), data.train, threads);
  prepare_blas(threads);
  return {config, std::move(tokenizers),          std::move(data), std::move(model),
          memory, std::make_unique<Pool>(threads)};
}

}  // namespace heed
