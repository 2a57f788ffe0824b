#include "data/run_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "config/fields_json.h"
#include "data/objective.h"
#include "step/optimizers.h"
#include "step/schedule.h"

namespace heed {
namespace {

GivenKeys keys_of(const JsonText& text) {
  GivenKeys given;
  given.keys = read_fields(text, fields(given.values));
  return given;
}

}  // namespace

vector<Field> fields(RunConfig& c) {
  const When pairs{"objective.type " + objectives_on(true),
                   c.data.has_pairs() ? "" : "data.train is text"},
      validated{"a run with held-out data",
                c.data.has_validation() ? "" : "data.valid_fraction is 0"};
  return {
      {"seed", &c.seed, "of initial values, order, dropout, masks and samples"},
      {"data", fields(c.data, pairs),
       "one of `train`, `source` + `target`, `pairs`; paths are relative "
       "to the folder of the config file"},
      {"tokenizer", fields(c.tokenizer, pairs), "how text becomes ids"},
      {"model", fields(c.model), "the transformer"},
      {"objective", fields(c.objective, docs(objectives())), "what it learns to predict"},
      {"optimizer", fields(c.optimizer, docs(optimizers()), docs(schedules())),
       "how its weights move"},
      {"train", fields(c.train, validated), "how long, how much at a time, how often"},
  };
}

GivenKeys parse_keys(string_view text, const string& name) {
  return keys_of(parse_json(text, name));
}

GivenKeys given_keys(const RunConfig& config) {
  GivenKeys given;
  given.values = config;
  for (const KeyChange& change : changed_keys({}, config)) given.keys[change.key];
  return given;
}

GivenKeys read_sets(const vector<string>& sets) {
  JsonText text{Json::object(), "--set"};
  RunConfig any;
  set<string> nulls;
  for (const auto all = fields(any); const string& set : sets) {
    const JsonText one = parse_set(all, set);
    for (const Leaf& leaf : fields_and_sections(all)) {
      const Json::json_pointer at("/" + replace_all(leaf.key, ".", "/"));
      if (!one.json.contains(at)) continue;
      const auto [place, first] = text.places.emplace(leaf.key, one.source);
      if (!first && !section_of(leaf.field))
        throw usage_error("{} and {} both set {}.", place->second, one.source, leaf.key)
            .hint("one of them");
      if (one.json[at].is_null()) nulls.insert(leaf.key);
    }
    text.json.merge_patch(one.json);
  }
  GivenKeys given = keys_of(text);
  given.reset = nulls;
  return given;
}

GivenKeys with(GivenKeys keys, const GivenKeys& changes) {
  if (changes.keys.empty() && changes.reset.empty()) return keys;
  RunConfig from = changes.values, defaults;
  const auto reset = [&](const string& key) {
    return ranges::any_of(changes.reset, [&](const string& section) {
      return key == section || key.starts_with(section + ".");
    });
  };
  erase_if(keys.keys, [&](const auto& entry) { return reset(entry.first); });
  copy_fields(fields(defaults), fields(keys.values), reset);
  copy_fields(fields(from), fields(keys.values),
              [&](const string& key) { return changes.contains(key); });
  for (const auto& [key, place] : changes.keys) keys.keys[key] = place;
  return keys;
}

RunConfig load_config(const string& path, const GivenKeys& given) {
  return resolved(changed(changed({}, keys_of(read_json_file(path))), given));
}

RunConfig parse_config(string_view text, const string& name) {
  return resolved(parse_keys(text, name));
}

string resolve_path(const string& folder, const string& written) {
  return (fs::path(folder) / written).lexically_normal();
}

string dump_config(const RunConfig& c, DumpFor use) {
  RunConfig copy = c;
  Json json = dump_fields(fields(copy));
  if (use == DumpFor::checkpoint) {
    Json& train = json["train"];
    for (const char* key : kOfThisProcess) train.erase(key);
    // Checkpoints of native runs have the bytes that they had before there was a choice.
    if (c.train.arithmetic == Arithmetic::native) train.erase("arithmetic");
    if (c.train.precision == Precision::float32) train.erase("precision");
  }
  return json.dump(2) + "\n";
}

vector<KeyChange> changed_keys(const RunConfig& before, const RunConfig& after) {
  RunConfig a = before, b = after;
  return changed_fields(fields(a), fields(b));
}

ConfigKeys keys_of(RunConfig config) {
  ConfigKeys keys;
  for (const Leaf& leaf : leaves(fields(config)))
    if (is_dumped(leaf.field)) keys[leaf.key] = dump_value(leaf.field);
  return keys;
}

void keep_differences(const vector<ConfigKeys*>& configs) {
  RunConfig defaults;
  for (const Leaf& leaf : leaves(fields(defaults))) {
    set<Json> values;
    for (const ConfigKeys* keys : configs)
      if (!keys->empty())
        values.insert(keys->contains(leaf.key) ? keys->at(leaf.key) : dump_value(leaf.field));
    if (values.size() > 1) continue;
    for (ConfigKeys* keys : configs) keys->erase(leaf.key);
  }
}

}  // namespace heed
