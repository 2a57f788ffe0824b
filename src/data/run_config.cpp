#include "data/run_config.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "config/fields_doc.h"
#include "config/fields_json.h"
#include "config/json_text.h"
#include "data/objective.h"
#include "step/optimizers.h"
#include "step/schedule.h"

namespace heed {
namespace {

GivenKeys read_keys(JsonText& text, const std::vector<std::string>& sets) {
  GivenKeys given;
  for (const std::string& set : sets) apply_set(text, fields(given.values), set);
  given.keys = read_fields(text, fields(given.values));
  return given;
}

RunConfig read(JsonText text, const std::vector<std::string>& sets) {
  GivenKeys given = read_keys(text, sets);
  check_applicable(text, fields(given.values), given.keys);
  return resolve(given.values, given.keys);
}

}  // namespace

std::vector<Field> fields(RunConfig& c) {
  return {
      {"seed", &c.seed, "of initial values, order, dropout, masks and samples"},
      {"data", fields(c.data),
       "one of `train`, `source` + `target`, `pairs`; paths are relative "
       "to the folder of the config file"},
      {"tokenizer", fields(c.tokenizer), "how text becomes ids"},
      {"model", fields(c.model), "the transformer"},
      {"objective", fields(c.objective, docs(objectives())), "what it learns to predict"},
      {"optimizer", fields(c.optimizer, docs(optimizers()), docs(schedules())),
       "how its weights move"},
      {"train", fields(c.train), "how long, how much at a time, how often"},
  };
}

RunConfig load_config(const std::string& path, const std::vector<std::string>& sets) {
  return read(read_json_file(path), sets);
}

RunConfig parse_config(std::string_view text, const std::string& name,
                       const std::vector<std::string>& sets) {
  return read(parse_json(text, name), sets);
}

GivenKeys read_sets(const std::vector<std::string>& sets) {
  JsonText text = parse_json("{}", "--set");
  return read_keys(text, sets);
}

std::string resolve_path(const std::string& folder, const std::string& written) {
  return (std::filesystem::path(folder) / written).lexically_normal().string();
}

std::string dump_config(const RunConfig& c, DumpFor use) {
  RunConfig copy = c;
  nlohmann::ordered_json json = dump_fields(fields(copy));
  if (use == DumpFor::checkpoint)
    for (const char* key : kOfThisProcess) json["train"].erase(key);
  return json.dump(2) + "\n";
}

std::vector<KeyChange> changed_keys(const RunConfig& before, const RunConfig& after) {
  RunConfig a = before, b = after;
  return changed_fields(fields(a), fields(b));
}

std::string config_schema() {
  RunConfig defaults;
  return fields_schema(fields(defaults), "A heed config").dump(2) + "\n";
}

std::string config_docs() {
  RunConfig defaults;
  return fields_markdown(fields(defaults));
}

}  // namespace heed
