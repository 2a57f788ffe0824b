// Which config a user means, and which configs come with heed.
#pragma once

#include <string>

namespace heed {

// A path as it is. A name alone ("quickstart"), if nothing here is called so, is NAME.json in
// ./configs, or in the configs of the clone or the installation that this program belongs to. Error
// (usage) says where was looked, and lists what there is.
std::string config_path(const std::string& typed);

// Whether `heed train` takes this as a config: *.json, or a name alone that nothing here has.
// Everything else is text.
bool names_config(const std::string& typed);

// What to try where `typed` does not exist: a config or file with such a name; "" if there is none.
std::string missing_hint(const std::string& typed);

}  // namespace heed
