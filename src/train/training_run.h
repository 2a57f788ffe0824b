// How a training goes, however it begins: fresh at step 0 in a new folder (train/start.cpp), on a
// text of the user's own (train/text_start.cpp), resumed in its folder at its newest checkpoint, or
// branched to a folder of its own at a checkpoint of another run, to another end (train/resume.h).
// Everything is read and prepared first, then the training goes. The way to the first step:
//
//   train_run (start), for train_on_text (text_start) with suggest (suggested_config)
//     prepare_run (prepared_run)   config and data: the model, the ids
//     go (training_run)            the run folder, the listeners
//       Trainer::run               the steps
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/input_file.h"
#include "base/log.h"
#include "base/profile.h"
#include "base/std_names.h"
#include "store/run.h"
#include "store/run_folder.h"
#include "train/prepared_run.h"
#include "train/suggested_config.h"
#include "train/trainer.h"

namespace heed {

struct RunRequest {
  string folder;
  string command;                // as typed, for origin.json
  GivenKeys given;               // by --set
  bool force = false;            // rename an old folder of the same name
  int threads = 0;               // 0: as in the config
  int64_t stop_at = 0;           // 0: no limit
  double begin = seconds_now();  // of the command
  Crew crew;
  string init_from;  // of heed train: another run, or empty
};

struct RunResult {
  Exit exit = Exit::ok;  // ok, interrupted or terminated
  string run;            // folder
  string reason;         // one of those that heed train --help names
  State state;           // where training stands
  optional<State> best;  // of the best checkpoint (best_of())
  double seconds = 0;    // of this process
};

// The error that ends a run whose weights are ruined, and where it stands.
struct FailedRun : Error {
  FailedRun(const Error& error, RunResult at) : Error(error), result(std::move(at)) {}
  RunResult result;
};

// Errors leave every earlier run as it was; once there is a train.log they are logged there too.
// `folder`: where relative paths of the config start. `plan`, if given, looks at the prepared run,
// and may change its config's end. `text`: what becomes RUN/text.txt, if anything; is let go once
// it is copied, after `plan`. Once the run is prepared, signals stop the training.
RunResult train_run(const RunRequest& request, const RunConfig& config, const string& folder,
                    Log& log, const function<void(PreparedRun&)>& plan = {},
                    unique_ptr<StoredInput>&& text = {});

// heed train TEXT: a run on the user's own text, without a config. In three steps, and the log says
// why: a config is chosen for the text and the minutes that training may take (heed init writes
// it); a few steps are measured; the number of steps is planned. So the run's config.json is an
// ordinary config, and training with it again gives the same bytes.
RunResult train_on_text(const RunRequest& request, OwnText text, Log& log);

// Error (store) unless a checkpoint has room on the disk of `run`. Before go(), and before a run
// folder is made.
void require_room(const PreparedRun& prepared, const string& run);

// Error (usage) if steps after `done` have a learning rate of 0. (The last of a schedule is one.)
optional<Error> useless_steps(const PreparedRun& run, int64_t done);

// Trains to the end of a run, whose lock is held. `begin` puts trainer and run where the training
// begins. From here on all that is logged is in train.log too.
RunResult go(const PreparedRun& prepared, const RunRequest& request, RunWriter& run, Log& log,
             const function<void(Trainer&)>& begin);

// The result of a run as it stands.
RunResult result_of(const RunWriter& run, const RunRequest& request, const State& state,
                    const string& reason, Exit exit = Exit::ok);

// What multiplies: "Cooperlake", for bfloat16 "Cooperlake, oneDNN 2.6.3, AVX512_BF16".
string kernels(const PreparedRun& run);

}  // namespace heed
