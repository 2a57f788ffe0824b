// heed train TEXT: a run on the user's own text, without a config. In three steps, and the log says
// why: a config is chosen for the text and the minutes that training may take (heed init writes
// it); a few steps are measured; the number of steps is planned. So the run's config.json is an
// ordinary config, and training with it again gives the same bytes.
#pragma once

#include "train/start.h"
#include "train/suggested_config.h"

namespace heed {

struct TextRequest {
  TrainRequest train;
  std::vector<std::string> texts;  // files and folders; or "-" alone, standard input
  std::string like = "gpt";
  double minutes = 5;
};

// What to call a text: "mine" for "a/mine.txt", "stdin" for "-".
std::string name_of_text(const std::string& path);

// Finds the texts that `request` names, reads them once and logs what they are. Errors as
// find_texts().
OwnText read_own_text(const TextRequest& request, bool any_bytes, Log& log);

// The config that it would train on this file or folder, without its number of steps.
RunConfig config_for(const std::string& path, const GivenKeys& given, Log& log);

RunResult train_on_text(const TextRequest& request, Log& log);

}  // namespace heed
