// Which config a user means, and which configs come with heed.
#pragma once

#include <string>

namespace heed {

// A path is returned unchanged; of a run, that of its config. A bare name ("quickstart") that is
// not a file here is NAME.json in
// ./configs, or in the configs of this program's clone or installation. Error (usage) says which
// folders were searched, and lists their configs, or that it is a text.
std::string config_path(const std::string& typed);

// Where the relative paths in this config start: in its folder, or where those of its run do.
std::string data_folder_of(const std::string& config);

// Whether `heed train` takes this as a config: *.json, or a bare name that is not a file here.
// Everything else is text.
bool names_config(const std::string& typed);
// A file or folder that is neither a config nor a run: a text to train on.
bool is_text(const std::string& typed);

// What to try if `typed` does not exist: a config or file with a similar name, or "".
std::string missing_hint(const std::string& typed);

}  // namespace heed
