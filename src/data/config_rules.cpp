// The rules between the keys of a config, and the values of keys left open.
#include "data/run_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "config/fields_json.h"
#include "data/objective.h"
#include "step/optimizers.h"
#include "step/schedule.h"

namespace heed {
namespace {

void require(bool holds, const std::string& what, const std::string& hint = "") {
  if (!holds) throw Error(Exit::usage, what, hint);
}

// The data: one kind, complete, with held-out files of the same kind.
void check_data(const DataConfig& d) {
  const bool text = !d.train.empty();
  const bool parallel = !d.source.empty() || !d.target.empty();
  const bool pairs = !d.pairs.empty();
  require(text + parallel + pairs == 1,
          fmt::format("expected one of data.train (text), data.source and data.target (parallel "
                      "lines) and data.pairs (TSV); found{}{}{}{}.",
                      text ? " train" : "", parallel ? " source/target" : "", pairs ? " pairs" : "",
                      text + parallel + pairs == 0 ? " none" : ""),
          "--set data.train=/path/to/book.txt");
  const auto together = [](const std::string& a, const std::string& b, const char* prefix) {
    require(
        a.empty() == b.empty(),
        fmt::format("data.{0}source and data.{0}target belong together; data.{0}{1} is missing.",
                    prefix, a.empty() ? "source" : "target"));
  };
  together(d.source, d.target, "");
  together(d.valid_source, d.valid_target, "valid_");
  const bool valid_pairs = !d.valid_source.empty() || !d.valid_pairs.empty();
  require(text ? !valid_pairs : d.valid.empty(),
          "held-out text (data.valid) goes with data.train, held-out pairs (data.valid_source and "
          "data.valid_target, or data.valid_pairs) with pairs.");
  require(d.valid_source.empty() || d.valid_pairs.empty(),
          "data.valid_source + data.valid_target and data.valid_pairs exclude each other.");
}

// The objective must fit the halves of the model and the data.
void check_objective(const RunConfig& c, const ObjectiveTraits& objective) {
  const std::string& name = c.objective.type;
  const bool pairs = objective.pairs();
  const char* gives = pairs                  ? "train is text"
                      : c.data.pairs.empty() ? "source gives pairs"
                                             : "pairs gives pairs";
  require(c.data.has_pairs() == pairs,
          fmt::format("objective.type {} learns from {}, but data.{}.", name,
                      pairs ? "pairs" : "text", gives),
          fmt::format("objective.type {}, or {}", objectives_on(!pairs),
                      pairs ? "pairs in data.pairs (TSV; heed init FILE.tsv makes a config) or in "
                              "data.source and data.target"
                            : "text in data.train"));
  const auto layers = [&](const char* key, int found, bool wanted) {
    require((found > 0) == wanted, fmt::format("objective.type {} needs {} {}; found {}.", name,
                                               key, wanted ? "of at least 1" : "0", found));
  };
  layers("model.encoder_layers", c.model.encoder_layers, objective.encoder());
  layers("model.decoder_layers", c.model.decoder_layers, objective.decoder());
  require(
      !objective.joined || c.tokenizer.shared,
      "a decoder alone (model.encoder_layers 0) reads both sides of a pair with one vocabulary, "
      "but tokenizer.shared is false.",
      c.tokenizer.own_target() ? "no tokenizer.target, or model.encoder_layers above 0"
                               : "--set tokenizer.shared=true, or model.encoder_layers above 0");
  constexpr std::size_t kMostSpecials = 10'000;
  require(objective.specials.size() <= kMostSpecials,
          fmt::format("objective.type {} needs {} special tokens for these lengths; a tokenizer "
                      "has at most {}.",
                      name, objective.specials.size(), kMostSpecials),
          "a smaller objective.source_length");
  require(!c.tokenizer.own_target() || !c.tokenizer.shared,
          "tokenizer.target is a vocabulary of the target's own, but tokenizer.shared is true.",
          "--set tokenizer.shared=null");
  require(c.tokenizer.own_target() || c.tokenizer.shared || c.tokenizer.file.empty(),
          "tokenizer.file is one vocabulary, but tokenizer.shared is false.",
          "--set tokenizer.shared=true");
  require(c.tokenizer.shared || c.model.tie != Tie::all,
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
          "--set model.n_kv_heads=null, for as many as n_heads");
  const int d_head = m.d_model / m.n_heads;
  const AttentionKinds& a = m.attention;
  using Named = std::pair<const char*, const AttentionConfig*>;
  for (const auto& [where, of] : {Named{"encoder_self", &a.encoder_self},
                                  {"decoder_self", &a.decoder_self},
                                  {"cross", &a.cross}})
    for (const auto& [what, projection] : {std::pair{"key", of->key}, {"value", of->value}})
      require(projection != Projection::identity || kv_heads(m) == m.n_heads,
              fmt::format("model.attention.{}.{} can be the identity only where every head of "
                          "queries has its own; found model.n_kv_heads {} for {} heads.",
                          where, what, kv_heads(m), m.n_heads),
              fmt::format("--set model.n_kv_heads=null, or --set model.attention.{}.{}=random",
                          where, what));
  require(m.positions != Positions::rotary || d_head % 2 == 0,
          fmt::format("rotary positions turn pairs of numbers: model.d_model / model.n_heads must "
                      "be even; found {}.",
                      d_head));
  require(m.positions != Positions::sinusoidal || m.d_model % 2 == 0,
          fmt::format("sinusoidal positions come in pairs: model.d_model must be even; found {}.",
                      m.d_model));
}

void check_training(const RunConfig& c, bool pairs) {
  const OptimizerConfig& o = c.optimizer;
  const TrainConfig& t = c.train;
  require(!schedule_of(o).factor || o.warmup_steps >= 1,
          fmt::format("optimizer.schedule {} needs optimizer.warmup_steps of at least 1; found 0.",
                      o.schedule));
  require(!decays(o) || o.min_learning_rate <= o.learning_rate,
          "optimizer.min_learning_rate must not be greater than optimizer.learning_rate.");
  require(t.arithmetic == Arithmetic::native || t.precision == Precision::float32,
          "train.arithmetic portable is for train.precision float32: sums of bfloat16 numbers are "
          "not the same on all processors.",
          "--set train.precision=null");
  require(t.max_steps > 0 || t.max_epochs > 0 || t.max_minutes > 0,
          "the run would never end: train.max_steps, max_epochs and max_minutes are all 0.");
  require(!decays(o) || o.decay_steps > 0 || t.max_epochs > 0,
          fmt::format("without train.max_steps or max_epochs, optimizer.schedule {} needs "
                      "optimizer.decay_steps.",
                      o.schedule));
  require(
      t.select_by == "loss" || t.select_by == "accuracy" || pairs,
      fmt::format("train.select_by {} needs objective.type {}.", t.select_by, objectives_on(true)));
}

bool falls_last(const OptimizerConfig& c) {
  return schedule_of(c).doc.uses("decay_fraction");
}

// What was left open, where that follows from other keys. The steps of epochs are known with the
// data (train/prepared_run.h).
RunConfig filled_in(const GivenKeys& given) {
  RunConfig c = given.values;
  for (double* rate : {&c.model.attention_dropout, &c.model.activation_dropout})
    if (*rate < 0) *rate = c.model.dropout;
  if (c.tokenizer.own_target()) {
    if (!given.contains("tokenizer.shared")) c.tokenizer.shared = false;
    if (!given.contains("model.tie")) c.model.tie = Tie::output;
  }
  c.model.n_kv_heads = kv_heads(c.model);
  fill_in_defaults(c.optimizer);
  if (c.train.max_epochs > 0 && !given.contains("train.max_steps")) c.train.max_steps = 0;
  StepOrEnd& decay = c.optimizer.decay_steps;
  decay.at_end = falls_last(c.optimizer) && decay == 0;
  if (decays(c.optimizer) && decay == 0 && c.train.max_epochs == 0) decay.step = c.train.max_steps;
  if (c.data.has_valid_files()) c.data.valid_fraction = 0;
  return c;
}

nlohmann::ordered_json value_of(RunConfig config, const std::string& key) {
  const std::vector<Field> all = fields(config);
  const std::vector<Leaf> list = leaves(all);
  return dump_value(*std::ranges::find(list, key, &Leaf::key)->field);
}

// The given keys that have no meaning, and another value than if they were left out.
std::map<std::string, When> without_meaning(const GivenKeys& given) {
  RunConfig values = given.values;
  const std::vector<Field> all = fields(values);
  std::map<std::string, When> found;
  for (const Leaf& leaf : leaves(all)) {
    const When* when = unmet(*leaf.field);
    if (when == nullptr || !given.contains(leaf.key)) continue;
    GivenKeys nothing;
    nothing.reset = {leaf.key};
    if (value_of(filled_in(with(given, nothing)), leaf.key) != dump_value(*leaf.field))
      found.emplace(leaf.key, *when);
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
      throw Error(Exit::usage,
                  fmt::format("{}: {} has no meaning here, because {}: it is for {}.",
                              changes.keys.at(key), key, when.why_not, when.where),
                  fmt::format("leave the key out, or --set {}=null", key));
    if (!before.contains(key)) lost.reset.insert(key);
  }
  return with(all, lost);
}

RunConfig resolved(const GivenKeys& given) {
  require(!given.values.optimizer.decay_steps.at_end || falls_last(given.values.optimizer),
          "optimizer.decay_steps \"end\" is for optimizer.schedule wsd.",
          "--set optimizer.decay_steps=null");
  RunConfig c = filled_in(given);
  check_data(c.data);
  const auto objective = make_objective(c);
  check_objective(c, objective->traits());
  check_model(c.model);
  check_training(c, objective->traits().pairs());

  const int needed =
      std::max(objective->traits().longest_source, objective->traits().longest_target);
  if (c.model.max_length == 0) c.model.max_length = needed;
  require(c.model.max_length >= needed,
          fmt::format("model.max_length must be at least {} for these lengths; found {}.", needed,
                      c.model.max_length));
  return c;
}

}  // namespace heed
