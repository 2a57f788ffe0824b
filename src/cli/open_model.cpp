#include "cli/open_model.h"

#include "math/blas.h"

namespace heed {

OpenModel::OpenModel(const CommandLine& line)
    : TrainedModel(load_trained_model(line.run(), line.checkpoint())),
      log({.quiet = line.quiet()}),
      pool(line.has("--threads") ? thread_count(line.threads(), config) : 1) {
  prepare_blas(pool.threads());
}

HeldOut held_out(OpenModel& m) {
  Dataset data = load_dataset(config_of_data(m), data_folder(m), m.tokenizers);
  const bool changed = data.hash.all() != m.state.data_hash;
  return {std::move(data), changed};
}

}  // namespace heed
