// heed config CONFIG | --schema | --docs, and heed init [TEXT...]; which config a user means, and
// which come with heed.
#include <algorithm>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "base/format.h"
#include "base/nearest.h"
#include "base/std_names.h"
#include "base/text_kind.h"
#include "base/utf8.h"
#include "cli/answers.h"
#include "cli/command.h"
#include "cli/output.h"
#include "config/fields_json.h"
#include "data/corpus.h"
#include "data/run_config.h"
#include "store/run.h"
#include "store/run_folder.h"
#include "train/suggested_config.h"

namespace heed {
namespace {

vector<string> config_folders() {
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored()).parent_path();
  vector<string> folders{"configs"};
  for (const char* beside : {"../configs", "../share/heed/configs"})
    folders.push_back((program / beside).lexically_normal().string());
  return folders;
}

// Name -> path. If two share a name, the first folder wins.
map<string, string> shipped_configs() {
  map<string, string> found;
  for (const string& folder : config_folders())
    for (const string& name : readable_names(folder))
      if (name.ends_with(".json"))
        found.emplace(fs::path(name).stem().string(), folder + "/" + name);
  return found;
}

vector<string> shipped_names() {
  return mapped(shipped_configs(), [](const auto& config) { return config.first; });
}

bool name_alone(const string& typed) {
  return !typed.empty() && typed != "-" && typed.find_first_of("./") == string::npos;
}

}  // namespace

bool is_text(const string& typed) {
  if (is_folder(typed)) return !fs::exists(fs::path(typed) / kConfigFile, ignored());
  if (!fs::is_regular_file(typed, ignored()) || typed.ends_with(".json")) return false;
  const string begin = first_bytes(typed);  // of a config a brace or a comment
  const size_t at = begin.find_first_not_of(" \t\r\n");
  return at == string::npos || (begin[at] != '{' && begin[at] != '/');
}

string data_folder_of(const string& config) {
  const fs::path file = fs::absolute(config).lexically_normal(), folder = file.parent_path();
  const bool of_run =
      file.filename() == kConfigFile && (is_run(folder) || is_checkpoint(folder.string()));
  const string began_in = of_run ? read_origin(folder).folder : "";
  return began_in.empty() ? folder.string() : began_in;
}

bool names_config(const string& typed) {
  return typed.ends_with(".json") || (name_alone(typed) && !path_exists(typed));
}

string config_path(const string& typed) {
  if (const fs::path of_run = fs::path(typed) / kConfigFile; fs::is_regular_file(of_run, ignored()))
    return of_run.string();
  if (is_text(typed))
    throw usage_error("{} is no config, which is JSON.", typed)
        .hint("heed init " + shell_word(typed) + ", which writes a config for it, if it is a text");
  if (path_exists(typed)) return typed;
  if (!name_alone(typed)) throw usage_error("{}: no such file.", typed).hint(missing_hint(typed));
  const auto shipped = shipped_configs();
  if (const auto it = shipped.find(typed); it != shipped.end()) return it->second;
  if (const fs::path config = fs::path(run_called(typed)) / kConfigFile; path_exists(config))
    return config.string();
  const vector<string> names = shipped_names();
  throw usage_error("no file is called \"{}\", and no config in {}{}", excerpt(typed),
                    listed(config_folders()), did_you_mean(nearest(typed, names)))
      .hint(names.empty() ? "the path of a config (.json) or of a text"
                          : "one of these: " + joined(names));
}

string missing_hint(const string& typed) {
  if (typed.find("://") != string::npos || typed.starts_with("www."))
    return fmt::format("curl -LO {}, as heed does not download; then its name", shell_word(typed));
  if (path_exists(typed + ".json")) return typed + ".json is a config";
  const fs::path path = typed;
  string near = nearest(path.filename().string(), readable_names(folder_of(path)));
  if (!near.empty()) return shell_word((path.parent_path() / near).string());
  near = nearest(path.stem().string(), shipped_names());
  return near.empty() ? "" : fmt::format("{} (without .json), a config that comes with heed", near);
}

Exit run_config(CommandLine& line) {
  string path;
  bool schema = false, docs = false;
  line.add_file("CONFIG", path, "config file (JSON), or the name of one that comes with heed");
  line.add_sets();
  line.app.add_flag("--schema", schema, "print the JSON Schema of configs");
  line.app.add_flag("--docs", docs, "print a markdown table of all keys");
  line.parse();
  line.only_where(!path.empty(), {"--set"}, "with CONFIG");

  if (schema + docs + !path.empty() != 1)
    throw usage_error("expected one of CONFIG, --schema and --docs.").hint("heed config --help");
  RunConfig defaults;
  if (schema) print_data(fields_schema(fields(defaults)).dump(2) + "\n");
  if (docs) print_data(fields_markdown(fields(defaults)));
  if (path.empty()) return Exit::ok;
  path = config_path(path);
  RunConfig config = load_config(path, line.given());
  // Its paths start from its own folder; what is printed may be kept in another one.
  const string folder = data_folder_of(path);
  const bool here = fs::equivalent(folder, ".", ignored());
  const auto from_here = [&](string& file) {
    if (!here && !file.empty())
      file = fs::path(resolve_path(folder, file)).lexically_normal().string();
  };
  for (const auto& [key, file] : paths_of(config.data)) from_here(*file);
  from_here(config.tokenizer.file);
  from_here(config.tokenizer.target.file);
  print_data(dump_config(config));
  return Exit::ok;
}

Exit run_init(CommandLine& line) {
  OwnText text;
  string output;
  line.add_file("TEXT", text.files, "files or folders of text");
  line.add_like(text);
  line.add_file("--output", output,
                "the config to write; - is standard output (default: TEXT.json)");
  line.app.remove_option(line.app.get_option("--json"));  // a config has comments
  line.parse();

  const bool no_text = text.files.empty();
  if (no_text) text.files = {"mine.txt"};
  const string first = text.files[0];
  if (output.empty()) output = name_of_text(first) + ".json";
  if (output != "-" && !output.ends_with(".json"))
    throw usage_error("{}: expected a name that ends in .json, as configs do.", output);
  if (output != "-" && path_exists(output))
    throw usage_error("{} exists already.", output).hint("--output FILE");
  Log log({.quiet = line.quiet});
  if (no_text) {
    text.name = first;
    if (text.like.empty()) text.like = text.columns.empty() ? "gpt" : "pairs";
    text.facts = {.bytes = 1'000'000, .characters = 1'000'000, .distinct = 90, .common = 70};
  } else {
    read_own_text(text, false, log);
    if (text.pairs())
      for (const string& remark :
           read_tsv(first, {.any_bytes = !text.facts.bad_files.empty()}, text.columns).warnings)
        log.warn(remark);
    for (string& file : text.files) {  // relative to the config's folder
      if (!text.pairs()) warn_of_markup(file, first_bytes(file), log);
      if (fs::path(file).is_relative())
        file = fs::proximate(file, output == "-" ? "." : folder_of(output)).string();
      check_writable(file);
    }
  }
  const Suggestion suggestion = suggest(text);
  if (!no_text) log.info("tokens: " + suggestion.tokens);
  write_output(output, suggested_config(text, suggestion));
  if (output != "-") {
    log.info(fmt::format(
        "written: {0}; {1}its max_steps is a guess, because nothing was measured; to train it:",
        shell_word(output), no_text ? "change its data.train; " : ""));
    const string run = (fs::path("runs") / fs::path(output).stem()).string();
    log.info(fmt::format("  heed train {}{}", shell_word(output),
                         path_exists(run) ? " --run " + shell_word(run + "-2") : ""));
  }
  return Exit::ok;
}

}  // namespace heed
