// heed train: reads config and data, makes the run folder, and trains. In two halves, between which
// a start on a text of one's own (train/text_start) plans how long it trains.
#pragma once

#include <memory>
#include <optional>

#include "base/stored_input.h"
#include "train/training_run.h"

namespace heed {

struct TrainRequest : RunRequest {  // `run` empty: runs/<config name>
  std::string config;               // path
  std::string init_from;            // another run, or empty
};

// Everything is read and checked, and the threads run; nothing is written yet.
struct PreparedStart {
  PreparedRun prepared;
  std::optional<ParamVec<float>> weights;  // of --init-from
  std::string run;                         // folder, to be made
  std::string folder;                 // for origin.json: where the relative paths of the data start
  std::unique_ptr<StoredInput> text;  // if there is one, it becomes RUN/text.txt
};

// `run` is free: the caller has checked it, before a text is read.
PreparedStart prepare_start(const TrainRequest& request, const RunConfig& config,
                            const std::string& folder, const std::string& run);

// Makes the run folder and trains.
RunResult begin_run(PreparedStart& start, const TrainRequest& request, Log& log);

// Errors leave every earlier run as it was; once there is a train.log they are logged there too.
RunResult train_run(const TrainRequest& request, Log& log);

}  // namespace heed
