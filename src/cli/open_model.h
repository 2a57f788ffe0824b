// The trained model that a command line names (RUN, --checkpoint), ready to work.
#pragma once

#include "base/log.h"
#include "base/pool.h"
#include "cli/command.h"
#include "data/dataset.h"
#include "store/trained_model.h"

namespace heed {

struct OpenModel : TrainedModel {
  explicit OpenModel(const CommandLine& line);

  Log log;
  Pool pool;  // of --threads; one thread if the command lacks that option
};

// The data of the model's run, where RUN/config.json names it now (config_of_data()).
struct HeldOut {
  Dataset data;  // also what is not held out
  bool changed;  // it is not what the run was trained on
};
HeldOut held_out(OpenModel& model);

}  // namespace heed
