// heed train: a run that begins anew. Everything is read and prepared first (prepare_start), then
// the run folder is made and the training goes (training_run.h). Between the two, training on the
// user's own text (text_start.h) plans how long it takes. The way to the first step:
//
//   train_run, or train_on_text (text_start)
//     prepare_start > prepare_run (prepared_run)   config and data: the model, the ids
//     fresh > go (training_run)                    the run folder, the listeners
//       Trainer::run                               the steps
#pragma once

#include <memory>
#include <optional>

#include "base/input_file.h"
#include "store/origin.h"
#include "train/training_run.h"

namespace heed {

struct TrainRequest {
  RunRequest run;
  std::string init_from;  // another run, or empty
};

// A run whose folder is still to be made.
struct Beginning {
  PreparedRun prepared;
  Origin origin;
  std::optional<ParamVec<float>> weights = {};  // of --init-from
  std::unique_ptr<StoredInput> text = {};       // becomes RUN/text.txt; null: none
};

// `folder`: where relative paths of the config start. From here on signals stop the training.
Beginning prepare_start(const TrainRequest& request, const RunConfig& config,
                        const std::string& folder);

// Makes the run's folder, and trains there from step 0.
RunResult fresh(Beginning& beginning, const RunRequest& request, Log& log);

// Errors leave every earlier run as it was; once there is a train.log they are logged there too.
RunResult train_run(const TrainRequest& request, const RunConfig& config, const std::string& folder,
                    Log& log);

}  // namespace heed
