// heed train TEXT: a run on the user's own text, without a config. One is suggested for the text
// and the minutes that training may take, and the log says why. heed init writes it.
//
// The number of steps is planned once, from a few steps measured before the run folder is made. So
// the run's config.json is an ordinary config, and training with it again gives the same bytes.
#pragma once

#include "train/start.h"
#include "train/suggested_config.h"

namespace heed {

struct TextRequest {
  TrainRequest train;              // `folder` empty: runs/<name of the first text>
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
RunConfig config_for(const std::string& path, const std::vector<std::string>& sets, Log& log);

RunResult train_on_text(TextRequest request, Log& log);

}  // namespace heed
