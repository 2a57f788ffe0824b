#include "cli/open_model.h"

#include "math/blas.h"

namespace heed {

OpenModel::OpenModel(const CommandLine& line)
    : TrainedModel(load_trained_model(line.run(), line.checkpoint())),
      log({.quiet = line.quiet()}),
      pool(line.has("--threads") ? thread_count(line.threads(), config) : 1) {
  prepare_blas(pool.threads());
}

}  // namespace heed
