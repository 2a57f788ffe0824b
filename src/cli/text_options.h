// The options of a config that is made for a text, which `train` and `init` share.
#pragma once

#include <string>

#include "cli/command.h"
#include "train/suggested_config.h"

namespace heed {

inline const CLI::Option* add_like(CommandLine& line, std::string& like) {
  return line.app()
      .add_option("--like", like, "text: the kind of model")
      ->transform(CLI::IsMember(families(), CLI::ignore_case));
}

inline const CLI::Option* add_minutes(CommandLine& line, double& minutes) {
  return line.app()
      .add_option("--minutes", minutes, "text: how long training may take")
      ->check(in_range(1e-3, 1e6));
}

}  // namespace heed
