// heed train: reads config and data, makes the run folder, and trains.
#pragma once

#include "train/training_run.h"

namespace heed {

struct TrainRequest : RunRequest {  // `run` empty: runs/<config name>
  std::string config;               // path
  std::string init_from;            // another run, or empty
  bool force = false;               // an old run folder is renamed
  std::string command;              // as typed, for origin.json
};

// Errors leave every earlier run as it was; once there is a train.log they are logged there too.
RunResult train_run(const TrainRequest& request, Log& log);

}  // namespace heed
