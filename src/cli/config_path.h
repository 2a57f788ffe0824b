// Which config a user means, and which configs come with heed.
#pragma once

#include <string>

namespace heed {

// A path as it is. A name alone ("quickstart"), if nothing here is called so, is NAME.json in
// ./configs, or in the configs of the clone or the installation that this program belongs to. Error
// (usage) lists what there is.
std::string config_path(const std::string& typed);

// Whether `heed train` takes this as a config: *.json, or a name alone that nothing here has.
// Everything else is text.
bool names_config(const std::string& typed);

// What to try where `typed` does not exist; "" if it is like no config.
std::string config_hint(const std::string& typed);

// False for a file without any of a config's keys: it is probably text that happens to be JSON.
bool looks_like_config(const std::string& path);

}  // namespace heed
