// The rules between the keys of a config, and the values of keys left open.
#include "base/json.h"
#include "base/std_names.h"
#include "data/run_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/format.h"
#include "config/fields_json.h"
#include "data/objective.h"
#include "step/optimizers.h"
#include "step/schedule.h"

namespace heed {
namespace {

void require(bool holds, const string& what, const string& hint = "") {
  if (!holds) throw Error(Exit::usage, what, hint);
}

// A --set that takes a value back.
string unset(const string& key) {
  return "--set " + key + "=null";
}

// The data: one kind, complete, with held-out files of the same kind.
void check_data(const DataConfig& d) {
  const bool text = !d.train.empty(), pairs = !d.pairs.empty(),
             parallel = !d.source.empty() || !d.target.empty();
  require(text + parallel + pairs == 1,
          "expected one of data.train (text), data.source and data.target (parallel lines) and "
          "data.pairs (TSV).",
          "--set data.train=/path/to/book.txt");
  require(
      d.source.empty() == d.target.empty() && d.valid_source.empty() == d.valid_target.empty(),
      "data.source and data.target belong together, and data.valid_source and data.valid_target.");
  const bool lines = !d.valid_source.empty(), table = !d.valid_pairs.empty();
  require(text ? !lines && !table : d.valid.empty() && !(lines && table),
          "data.valid goes with data.train; with pairs go data.valid_source and data.valid_target, "
          "or data.valid_pairs.");
}

// The objective must fit the halves of the model and the data.
void check_objective(const RunConfig& c, const ObjectiveTraits& objective) {
  const string& name = c.objective.type;
  const bool pairs = objective.pairs();
  const char *text = "text (data.train)", *pair = "pairs (data.pairs, or data.source and target)";
  require(c.data.has_pairs() == pairs,
          fmt::format("objective.type {} learns from {}, but the data are {}.", name,
                      pairs ? pair : text, pairs ? text : pair),
          fmt::format("objective.type {}, or heed init FILE, which makes a config for a file",
                      objectives_on(!pairs)));
  const auto layers = [&](const char* key, int found, bool wanted) {
    require((found > 0) == wanted, fmt::format("objective.type {} needs {} {}; found {}.", name,
                                               key, wanted ? "of at least 1" : "0", found));
  };
  layers("model.encoder_layers", c.model.encoder_layers, objective.encoder());
  layers("model.decoder_layers", c.model.decoder_layers, objective.decoder());
}

void check_vocabularies(const RunConfig& c, bool joined) {
  const TokenizersConfig& t = c.tokenizer;
  require(
      !joined || t.shared,
      "a decoder alone (model.encoder_layers 0) reads both sides of a pair with one vocabulary, "
      "but tokenizer.shared is false.",
      "tokenizer.shared true and no tokenizer.target, or model.encoder_layers above 0");
  require(!t.own_target() || !t.shared,
          "tokenizer.target is a vocabulary of the target's own, but tokenizer.shared is true.",
          unset("tokenizer.shared"));
  require(t.own_target() || t.shared || t.file.empty(),
          "tokenizer.file is one vocabulary, but tokenizer.shared is false.",
          "--set tokenizer.shared=true");
  require(t.shared || c.model.tie != Tie::all,
          "model.tie all needs one vocabulary, but tokenizer.shared is false.",
          "model.tie output or none");
}

void check_model(const ModelConfig& m) {
  require(m.d_model % m.n_heads == 0,
          fmt::format("model.n_heads must divide model.d_model; found {} heads for a width of {}.",
                      m.n_heads, m.d_model));
  require(m.n_heads % kv_heads(m) == 0,
          fmt::format("model.n_kv_heads must divide model.n_heads; found {} for {} heads.",
                      kv_heads(m), m.n_heads),
          unset("model.n_kv_heads"));
  const AttentionKinds& a = m.attention;
  for (const auto& [name, kind] : {pair{"encoder_self", &a.encoder_self},
                                   {"decoder_self", &a.decoder_self},
                                   {"cross", &a.cross}})
    require(kv_heads(m) == m.n_heads ||
                (kind->key != Projection::identity && kind->value != Projection::identity),
            fmt::format("model.attention.{0}.key and model.attention.{0}.value cannot be the "
                        "identity where heads share them: model.n_kv_heads is {1} for {2} heads.",
                        name, kv_heads(m), m.n_heads),
            unset("model.n_kv_heads"));
  const bool rotary = m.positions == Positions::rotary;
  const int turned = rotary                                 ? m.d_model / m.n_heads
                     : m.positions == Positions::sinusoidal ? m.d_model
                                                            : 0;
  require(turned % 2 == 0,
          fmt::format("{} must be even, because these positions come in pairs: found {}.",
                      rotary ? "model.d_model / model.n_heads (rotary)" : "model.d_model", turned));
}

void check_training(const RunConfig& c, bool pairs) {
  const OptimizerConfig& o = c.optimizer;
  const TrainConfig& t = c.train;
  const bool falls = fall_of(o).to >= 0;
  require(!kind_named(schedules(), o.schedule).factor || o.warmup_steps >= 1,
          fmt::format("optimizer.schedule {} needs optimizer.warmup_steps of at least 1; found 0.",
                      o.schedule));
  require(!falls || o.min_learning_rate <= o.learning_rate,
          "optimizer.min_learning_rate must not be greater than optimizer.learning_rate.");
  require(t.arithmetic == Arithmetic::native || t.precision == Precision::float32,
          "train.arithmetic portable is for train.precision float32: sums of bfloat16 numbers are "
          "not the same on all processors.",
          "--set train.arithmetic=native");
  require(t.max_steps > 0 || t.max_epochs > 0 || t.max_minutes > 0,
          "the run would never end: train.max_steps, max_epochs and max_minutes are all 0.");
  require(!falls || o.decay_steps > 0 || t.max_epochs > 0,
          fmt::format("without train.max_steps or max_epochs, optimizer.schedule {} needs "
                      "optimizer.decay_steps.",
                      o.schedule));
  require(
      t.select_by == "loss" || t.select_by == "accuracy" || pairs,
      fmt::format("train.select_by {} needs objective.type {}.", t.select_by, objectives_on(true)));
}

// What was left open, where that follows from other keys. The steps of epochs are known with the
// data (train/prepared_run.h).
RunConfig filled_in(const GivenKeys& given) {
  RunConfig c = given.values;
  for (double* rate : {&c.model.attention_dropout, &c.model.activation_dropout})
    if (*rate < 0) *rate = c.model.dropout;
  if (c.tokenizer.own_target() && !given.contains("tokenizer.shared")) c.tokenizer.shared = false;
  if (!c.tokenizer.shared && !given.contains("model.tie")) c.model.tie = Tie::output;
  c.model.n_kv_heads = kv_heads(c.model);
  fill_in_defaults(c.optimizer);
  if (c.train.max_epochs > 0 && !given.contains("train.max_steps")) c.train.max_steps = 0;
  StepOrEnd& decay = c.optimizer.decay_steps;
  const Fall fall = fall_of(c.optimizer);
  decay.at_end = fall.from >= 0 && decay == 0;
  if (fall.to >= 0 && decay == 0 && c.train.max_epochs == 0) decay.step = c.train.max_steps;
  if (c.data.has_valid_files()) c.data.valid_fraction = 0;
  return c;
}

// The given keys that have no meaning, and another value than if all these were left out.
map<string, When> without_meaning(const GivenKeys& given) {
  RunConfig values = given.values;
  const vector<Leaf> all = leaves(fields(values));
  GivenKeys changes;
  for (const Leaf& leaf : all)
    if (given.contains(leaf.key) && unmet(leaf.field)) changes.reset.insert(leaf.key);
  RunConfig rest = filled_in(with(given, changes));
  map<string, When> found;
  for (const vector<Leaf> left = leaves(fields(rest)); const string& key : changes.reset) {
    const Field& field = ranges::find(all, key, &Leaf::key)->field;
    if (dump_value(ranges::find(left, key, &Leaf::key)->field) != dump_value(field))
      found.emplace(key, *unmet(field));
  }
  return found;
}

}  // namespace

GivenKeys changed(const GivenKeys& keys, const GivenKeys& changes) {
  const GivenKeys all = with(keys, changes);
  const auto before = without_meaning(keys);
  GivenKeys lost;
  for (const auto& [key, when] : without_meaning(all)) {
    if (changes.contains(key))
      throw usage_error("{}: {} has no meaning here, because {}: it is for {}.",
                        changes.keys.at(key), key, when.why_not, when.where)
          .hint("leave the key out, or " + unset(key));
    if (!before.contains(key)) lost.reset.insert(key);
  }
  return with(all, lost);
}

RunConfig resolved(const GivenKeys& given) {
  require(!given.values.optimizer.decay_steps.at_end || fall_of(given.values.optimizer).from >= 0,
          "optimizer.decay_steps \"end\" is for optimizer.schedule wsd.",
          unset("optimizer.decay_steps"));
  RunConfig c = filled_in(given);
  check_data(c.data);
  const auto objective = make_objective(c);
  check_objective(c, objective->traits());
  check_vocabularies(c, objective->traits().joined);
  check_model(c.model);
  check_training(c, objective->traits().pairs());

  const int needed = max(objective->traits().longest_source, objective->traits().longest_target);
  if (c.model.max_length == 0) c.model.max_length = needed;
  require(c.model.max_length >= needed,
          fmt::format("model.max_length must be at least {} for these lengths; found {}.", needed,
                      c.model.max_length));
  return c;
}

}  // namespace heed
