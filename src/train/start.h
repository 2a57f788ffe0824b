// heed train: a run that begins anew. Everything is read and prepared first (prepare_start), then
// the run folder is made and the training goes (training_run.h). Between the two, training on the
// user's own text (text_start.h) plans how long it takes. The way to the first step:
//
//   train_run, or train_on_text (text_start)
//     prepare_start > prepare_run (prepared_run)   config and data: the model, the ids
//     go_in_new_folder > go (training_run)         the run folder, the listeners
//       Trainer::run                               the steps
#pragma once

#include "train/training_run.h"

namespace heed {

struct TrainRequest {
  RunRequest run;
  std::string init_from;  // another run, or empty
};

// `folder`: where relative paths of the config start. From here on signals stop the training.
Beginning prepare_start(const TrainRequest& request, const RunConfig& config,
                        const std::string& folder);

// Errors leave every earlier run as it was; once there is a train.log they are logged there too.
RunResult train_run(const TrainRequest& request, const RunConfig& config, const std::string& folder,
                    Log& log);

}  // namespace heed
