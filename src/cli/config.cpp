// heed config CONFIG | --schema | --docs
#include <algorithm>
#include <filesystem>

#include "cli/command.h"
#include "cli/output.h"
#include "data/run_config.h"

namespace heed {

Exit run_config(CommandLine& line) {
  std::string path;
  bool schema = false, docs = false;
  line.add_file("CONFIG", path, "config file (JSON), or the name of one that comes with heed");
  line.add_sets();
  line.app().add_flag("--schema", schema, "print the JSON Schema of configs");
  line.app().add_flag("--docs", docs, "print a markdown table of all keys");
  line.parse();
  line.only_where(!path.empty(), {"--set"}, "with CONFIG");

  if (schema + docs + !path.empty() != 1)
    throw Error(Exit::usage, "expected one of CONFIG, --schema and --docs.", "heed config --help");
  if (docs && line.json())
    throw Error(Exit::usage, "--docs is a table in markdown, not JSON.",
                "heed config --schema: keys, types, ranges and texts as JSON");
  if (schema) print_data(config_schema());
  if (docs) print_data(config_docs());
  if (path.empty()) return Exit::ok;
  path = config_path(path);
  RunConfig config = load_config(path, line.given());
  // Its paths start from its own folder; what is printed may be kept in another one.
  const std::string folder = data_folder_of(path);
  DataConfig& d = config.data;
  std::error_code none;
  const bool here = std::filesystem::equivalent(folder, ".", none);
  const auto from_here = [&](std::string& file) {
    if (!here && !file.empty())
      file = std::filesystem::path(resolve_path(folder, file)).lexically_normal().string();
  };
  for (std::string* file : {&d.source, &d.target, &d.pairs, &d.valid_source, &d.valid_target,
                            &d.valid_pairs, &config.tokenizer.file, &config.tokenizer.target.file})
    from_here(*file);
  for (PathList* list : {&d.train, &d.valid}) std::ranges::for_each(list->paths, from_here);
  print_data(dump_config(config));
  return Exit::ok;
}

}  // namespace heed
