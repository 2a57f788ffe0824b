// The trained model that a command line names (RUN, --checkpoint), ready to work.
#pragma once

#include "base/log.h"
#include "base/pool.h"
#include "cli/command.h"
#include "store/trained_model.h"

namespace heed {

struct OpenModel : TrainedModel {
  explicit OpenModel(const CommandLine& line);

  Log log;
  Pool pool;  // of --threads; one thread if the command lacks that option
};

}  // namespace heed
