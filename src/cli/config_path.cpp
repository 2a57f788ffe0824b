// Which config a user means, and which configs come with heed.
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/nearest.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "data/corpus.h"
#include "store/run.h"
#include "store/run_folder.h"

namespace heed {
namespace {

vector<string> config_folders() {
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
  vector<string> folders{"configs"};
  for (const char* beside : {"../configs", "../share/heed/configs"})
    folders.push_back((program / beside).lexically_normal().string());
  return folders;
}

// Name -> path. If two share a name, the first folder wins.
std::map<string, string> shipped_configs() {
  std::map<string, string> found;
  for (const string& folder : config_folders())
    if (std::error_code none; fs::is_directory(folder, none))
      for (const string& name : names_in(folder))
        if (name.ends_with(".json"))
          found.emplace(fs::path(name).stem().string(), folder + "/" + name);
  return found;
}

vector<string> shipped_names() {
  vector<string> names;
  for (const auto& [name, path] : shipped_configs()) names.push_back(name);
  return names;
}

// A config begins with a brace or a comment.
bool begins_as_json(const string& path) {
  const string begin = first_bytes(path);
  const size_t at = begin.find_first_not_of(" \t\r\n");
  return at != string::npos && (begin[at] == '{' || begin[at] == '/');
}

bool name_alone(const string& typed) {
  return !typed.empty() && typed != "-" && typed.find_first_of("./") == string::npos;
}

}  // namespace

bool is_text(const string& typed) {
  std::error_code none;
  if (fs::is_directory(typed, none)) return !fs::exists(fs::path(typed) / kConfigFile, none);
  return fs::is_regular_file(typed, none) && !typed.ends_with(".json") && !begins_as_json(typed);
}

string data_folder_of(const string& config) {
  const fs::path file = fs::absolute(config).lexically_normal(), folder = file.parent_path();
  const bool of_run =
      file.filename() == kConfigFile && (is_run(folder) || is_checkpoint(folder.string()));
  const string began_in = of_run ? read_origin(folder.string()).folder : "";
  return began_in.empty() ? folder.string() : began_in;
}

bool names_config(const string& typed) {
  return typed.ends_with(".json") || (name_alone(typed) && !path_exists(typed));
}

string config_path(const string& typed) {
  std::error_code none;
  if (const fs::path of_run = fs::path(typed) / kConfigFile; fs::is_regular_file(of_run, none))
    return of_run.string();
  if (is_text(typed))
    throw usage_error("{} is no config, which is JSON.", typed)
        .hint("heed init " + shell_word(typed) + ", which writes a config for it, if it is a text");
  if (path_exists(typed)) return typed;
  if (!name_alone(typed)) throw usage_error("{}: no such file.", typed).hint(missing_hint(typed));
  const auto shipped = shipped_configs();
  if (const auto it = shipped.find(typed); it != shipped.end()) return it->second;
  if (const fs::path run = fs::path("runs") / typed; is_run(run))
    return (run / kConfigFile).string();
  const vector<string> names = shipped_names();
  throw usage_error("no file is called \"{}\", and no config in {}{}", excerpt(typed),
                    listed(config_folders()), did_you_mean(nearest(typed, names)))
      .hint(names.empty() ? "the path of a config (.json) or of a text"
                          : "one of these: " + joined(names));
}

string missing_hint(const string& typed) {
  if (path_exists(typed + ".json")) return typed + ".json is a config";
  const fs::path path = typed, folder = folder_of(path);
  if (std::error_code none; fs::is_directory(folder, none))
    if (const string near = nearest(path.filename().string(), names_in(folder)); !near.empty())
      return shell_word((path.parent_path() / near).string());
  const string near = nearest(path.stem().string(), shipped_names());
  return near.empty() ? "" : fmt::format("{} (without .json), a config that comes with heed", near);
}

}  // namespace heed
