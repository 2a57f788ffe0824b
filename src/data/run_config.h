// Everything a run is made of: the config file, read, checked and completed.
//
// A RunConfig from load_config or parse_config is valid and complete: cross-key rules hold and what
// was left open (attention_dropout, weight_decay, decay_steps, model.max_length, valid_fraction) is
// resolved, so that dumping and reading it again gives the same. All errors are Exit::usage and
// name the key; those about one key alone also name the file and line, or the --set.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/std_names.h"
#include "config/data_config.h"
#include "config/fields.h"
#include "config/model_config.h"
#include "config/train_config.h"

namespace heed {

struct RunConfig {
  uint64_t seed = 1;
  DataConfig data;
  TokenizersConfig tokenizer;
  ModelConfig model;
  ObjectiveConfig objective;
  OptimizerConfig optimizer;
  TrainConfig train;
};

vector<Field> fields(RunConfig& c);

// The keys that somebody wrote, each checked alone, without the rules between keys.
struct GivenKeys {
  RunConfig values;
  Places keys;        // "model.d_model"
  set<string> reset;  // these take their defaults first: --set KEY=null
  bool contains(const string& key) const { return keys.contains(key); }
  void erase(const string& key) { keys.erase(key), reset.erase(key); }
};
// Of a config's text; `name` stands for its file in messages.
GivenKeys parse_keys(string_view text, const string& name);
// Of a config: its values that are not the defaults.
GivenKeys given_keys(const RunConfig& config);
// Of --set ("model.d_model=64"); a value is JSON, or else a string. Error (usage) if two set a key.
GivenKeys read_sets(const vector<string>& sets);
// The first, changed by the second.
GivenKeys with(GivenKeys keys, const GivenKeys& changes);
// The same where a user writes the changes. Error (usage) on one of a key that has no meaning
// beside the others (config/fields.h), unless the value is what it is if the key is left out. Keys
// of the first whose meaning the changes take away are left out.
GivenKeys changed(const GivenKeys& keys, const GivenKeys& changes);

// Checks the rules between keys and fills in what was left open (config_rules.cpp). Keys without
// meaning are taken as they are.
RunConfig resolved(const GivenKeys& given);

// The text of a run's config file.
RunConfig parse_config(string_view text, const string& name);
// One that a user writes, changed by the keys that are given with it: none may be without meaning.
RunConfig load_config(const string& path, const GivenKeys& given);

// Resolves a path written in a config; `folder` is the config file's.
string resolve_path(const string& folder, const string& written);

// Keys of the section train that change nothing in what is trained.
inline constexpr const char* kOfThisProcess[] = {"threads", "rank_timeout", "tensorboard",
                                                 "live",    "keep_every",   "prompt"};

// The effective config: every key, strings as written, one final newline. A checkpoint's has no
// kOfThisProcess, because its bytes must not depend on them.
enum class DumpFor { run, checkpoint };
string dump_config(const RunConfig& c, DumpFor use = DumpFor::run);

// What differs between a run's config and the one to resume it with.
vector<KeyChange> changed_keys(const RunConfig& before, const RunConfig& after);

// In which config keys several runs differ.
using ConfigKeys = map<string, Json>;  // "model.d_model" -> 64

ConfigKeys keys_of(RunConfig config);

// Leaves the keys that not all have with the same value, or with its default where a key has no
// meaning. An empty one is that of a run whose config cannot be read; it does not count.
void keep_differences(const vector<ConfigKeys*>& configs);

}  // namespace heed
