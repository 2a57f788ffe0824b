// heed train: reads config and data, makes the run folder, and trains. In two halves, between which
// training on the user's own text (train/text_start) plans how long it takes. Continuing a run and
// branching from one are train/resume. The way to the first step:
//
//   train_run, or train_on_text (text_start)
//     prepare_start > prepare_run (prepared_run)    config and data: the model, the ids
//     begin_run > train_to_the_end (training_run)   the run folder, the listeners
//       Trainer::run                                the steps
#pragma once

#include <memory>
#include <optional>

#include "base/stored_input.h"
#include "train/training_run.h"

namespace heed {

struct TrainRequest {
  RunRequest run;         // `folder` empty: runs/<config name>
  std::string config;     // path
  std::string init_from;  // another run, or empty
  bool partial = false;   // of its weights only those that fit (train/partial_weights.h)
};

// Everything is read and checked, and the threads run; nothing is written yet.
struct PreparedStart {
  PreparedRun prepared;
  std::optional<ParamVec<float>> weights;  // of --init-from
  std::string folder;                      // relative paths of the data start here
  std::unique_ptr<StoredInput> text;       // becomes RUN/text.txt; null: none
};

// From here on signals stop the training.
PreparedStart prepare_start(const TrainRequest& request, const RunConfig& config,
                            const std::string& folder);

// Makes the folder request.run.folder, which RunWriter::require_free() has checked, and trains.
RunResult begin_run(PreparedStart& start, const TrainRequest& request, Log& log);

// Errors leave every earlier run as it was; once there is a train.log they are logged there too.
RunResult train_run(TrainRequest request, Log& log);

}  // namespace heed
