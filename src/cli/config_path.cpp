#include "cli/config_path.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/folders.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/nearest.h"
#include "data/run_config.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Name -> path. Of two with one name the first folder's counts.
std::map<std::string, fs::path> shipped_configs() {
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
  std::map<std::string, fs::path> found;
  for (const fs::path& folder :
       {fs::path("configs"), program / "../configs", program / "../share/heed/configs"}) {
    if (!fs::is_directory(folder, none)) continue;
    for (const std::string& name : names_in(folder))
      if (name.ends_with(".json"))
        found.emplace(fs::path(name).stem().string(), (folder / name).lexically_normal());
  }
  return found;
}

bool name_alone(const std::string& typed) {
  return !typed.empty() && typed != "-" && typed.find_first_of("./") == std::string::npos;
}

std::string nearest_config(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [other, path] : shipped_configs()) names.push_back(other);
  return nearest(name, names);
}

}  // namespace

bool names_config(const std::string& typed) {
  return typed.ends_with(".json") || (name_alone(typed) && !path_exists(typed));
}

std::string config_path(const std::string& typed) {
  if (path_exists(typed)) return typed;
  if (!name_alone(typed)) {
    const std::string hint = config_hint(typed);
    if (hint.empty()) return typed;
    throw Error(Exit::usage, typed + ": no such file.", hint);
  }
  const std::map<std::string, fs::path> shipped = shipped_configs();
  if (const auto it = shipped.find(typed); it != shipped.end()) return it->second.string();
  std::vector<std::string> names;
  for (const auto& [name, path] : shipped) names.push_back(name);
  throw Error(Exit::usage,
              fmt::format("no file and no config is called \"{}\"{}", typed,
                          did_you_mean(nearest(typed, names))),
              names.empty() ? "the path of a config (.json) or of a text"
                            : "one of these: " + joined(names));
}

std::string config_hint(const std::string& typed) {
  if (path_exists(typed + ".json")) return typed + ".json is a config";
  const std::string near = nearest_config(fs::path(typed).stem().string());
  return near.empty() ? "" : fmt::format("{} (without .json), a config that comes with heed", near);
}

bool looks_like_config(const std::string& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return true;
  InputFile file(path, InputFile::Allow::link, Exit::usage);
  std::string text;
  while (text.size() < (1 << 18) && file.append_to(text, 1 << 18)) {
  }
  RunConfig defaults;
  const std::vector<Field> sections = fields(defaults);
  return std::ranges::any_of(sections, [&](const Field& field) {
    return text.find('"' + field.key + '"') != std::string::npos;
  });
}

}  // namespace heed
