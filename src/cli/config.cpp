// heed config CONFIG | --schema | --docs
#include "cli/command.h"
#include "cli/config_path.h"
#include "cli/output.h"
#include "data/run_config.h"

namespace heed {

Exit run_config(CommandLine& line) {
  std::string path;
  std::vector<std::string> sets;
  bool schema = false, docs = false;
  line.add_file("CONFIG", path, "config file (JSON), or the name of one that comes with heed");
  line.add_sets(sets);
  line.app().add_flag("--schema", schema, "print the JSON Schema of configs");
  line.app().add_flag("--docs", docs, "print a markdown table of all keys");
  if (!line.parse()) return Exit::ok;

  if (schema + docs + !path.empty() != 1)
    throw Error(Exit::usage, "expected one of CONFIG, --schema and --docs.", "heed config --help");
  if (docs && line.json())
    throw Error(Exit::usage, "--docs is a table in markdown, not JSON.",
                "heed config --schema: keys, types, ranges and texts as JSON");
  if (schema) print(config_schema());
  if (docs) print(config_docs());
  if (!path.empty()) print(dump_config(load_config(config_path(path), sets)));
  return Exit::ok;
}

}  // namespace heed
