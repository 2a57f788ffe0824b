#include "store/huggingface.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "config/fields_json.h"
#include "nn/embedding.h"

namespace heed {

extern const char* const huggingface_json;

namespace {

// The values that "=KEY" stands for: those of the section model, of others with their full keys,
// and what follows from them.
Json values_of(RunConfig c, int source_vocab = 0, int vocab = 0) {
  const Json all = dump_fields(fields(c));
  Json values = all.at("model");
  for (const char* section : {"data", "tokenizer", "objective"})
    for (const auto& [key, value] : all.at(section).items()) values[section + ("." + key)] = value;
  values["d_head"] = c.model.d_model / c.model.n_heads;
  values["longest"] = longest_read(c);
  values["source_vocab_size"] = source_vocab;
  values["vocab_size"] = vocab;
  values["tied"] = c.model.tie != Tie::none;
  values["an_encoder"] = max(1, c.model.encoder_layers);
  values["end"] = c.data.has_pairs() ? Json(2) : Json();
  const bool pieces = is_subword(c.tokenizer.type);  // else others are to be learnt
  values["tokenizer.vocab_size"] = c.tokenizer.vocab_size;
  values["pieces.file"] = pieces ? c.tokenizer.file : "";
  values["pieces.vocab_size"] = pieces ? c.tokenizer.vocab_size : 0;
  return values;
}

// The changes that would make a row's class compute what the model does.
vector<KeyChange> in_the_way(const Json& row, RunConfig config) {
  const Json values = values_of(config);
  Json needs = row.at("needs");
  fill_in(needs, values);
  vector<KeyChange> changes;
  for (const auto& [key, value] : needs.items()) {
    const Json wanted = value.is_array() ? value : Json::array({value});
    if (ranges::count(wanted, values.at(key)) == 0)
      changes.push_back({key.find('.') == key.npos ? "model." + key : key, values.at(key).dump(),
                         wanted[0].dump(), OnResume::refused});
  }
  ModelConfig whole;
  for (KeyChange& change : changed_fields(fields(config.model), fields(whole)))
    if (change.key.starts_with("attention.")) {
      change.key.insert(0, "model.");
      changes.push_back(change);
    }
  return changes;
}

// "model.positions=\"sinusoidal\"", as --set takes it; nothing if they make another kind of model.
vector<string> sets_of(const vector<KeyChange>& changes) {
  vector<string> sets;
  for (const KeyChange& change : changes) {
    if (change.key.starts_with("objective.") || change.key.ends_with("_layers")) return {};
    sets.push_back(change.key + "=" + change.after);
  }
  return sets;
}

// The row that needs the fewest changes, and these; first those for this kind of model.
pair<Json, vector<KeyChange>> nearest_class(const string& program, const RunConfig& config) {
  pair<Json, vector<KeyChange>> nearest;
  size_t least = -1;
  for (const Json& row : foreign_classes(program)) {
    vector<KeyChange> changes = in_the_way(row, config);
    const size_t all = changes.size() + 100 * (sets_of(changes).size() < changes.size());
    if (all < least) least = all, nearest = {row, changes};
  }
  return nearest;
}

// Their place i, among groups of `width` of which they have our even places first, then the odd
// ones, is ours. A width of 2 changes nothing.
size_t our_place(size_t i, size_t width) {
  const size_t at = i % width, half = width / 2;
  return i - at + (at < half ? 2 * at : 2 * (at - half) + 1);
}

vector<size_t> by_head(const vector<size_t>& rows, size_t d_head) {
  vector<size_t> out;
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t head = i / (3 * d_head), part = i / d_head % 3;
    out.push_back(rows[part * rows.size() / 3 + head * d_head + i % d_head]);
  }
  return out;
}

vector<float> sinusoids(int length, int d) {
  Workspace workspace;
  const auto ours = position_angles<float>(workspace, {0, length - 1}, d).table;
  vector<float> theirs;
  for (int p = 0; p < length; ++p)
    for (int c = 0; c < d; ++c) theirs.push_back(ours(p, our_place(c, d)));
  return theirs;
}

// The rows and columns of one of our tensors, added to theirs. The numbers of a head that turn, and
// the residual axis, have the order of our_place() with these widths.
void add_part(const ParamInfo& info, size_t head, size_t residual, ForeignTensor& out) {
  const auto has = [&](const char* part) { return info.name.find(part) != string::npos; };
  const bool turned = has("q_proj") || has("k_proj") || has("q_norm") || has("k_norm");
  const bool writes = has("out_proj") || has("fc2");  // to the residual axis
  const size_t width = turned ? head : writes || has("norm") ? residual : 2;
  const size_t n = info.vector ? info.param.cols : info.param.rows;
  const size_t stride = info.vector ? 1 : info.param.cols;
  for (size_t i = 0; i < n; ++i)
    out.rows.push_back(info.param.offset + our_place(i, width) * stride);
  out.columns.clear();
  for (size_t i = 0; i < stride; ++i)
    out.columns.push_back(our_place(i, writes || info.vector ? 2 : residual));
}

}  // namespace

Json foreign_table() {
  return Json::parse(huggingface_json);
}

void fill_in(Json& part, const Json& values) {
  if (part.is_structured())
    for (Json& member : part) fill_in(member, values);
  if (part.is_string() && part.get_ref<const string&>().starts_with('='))
    part = Json(values.at(part.get_ref<const string&>().substr(1)));
}

Json foreign_classes(const string& program) {
  const Json table = foreign_table();
  return mapped(table.at(program), [&](const Json& own) {
    Json row = table.at("families").at(own.at("family").get<string>());
    row.merge_patch(own);
    return row;
  });
}

Json foreign_class(const string& program, const RunConfig& config) {
  const auto [row, in_way] = nearest_class(program, config);
  if (in_way.empty()) return row;
  throw usage_error("no class of {} computes what this model does. The nearest is {}, with {}.",
                    program, row.at("class").get<string>(), listed(mapped(in_way, in_words)))
      .hint("another training: heed train DATA --for huggingface");
}

string opens_as(const RunConfig& config) {
  const auto [row, in_way] = nearest_class("huggingface", config);
  const string name = row.at("class"), sets = joined(sets_of(in_way));
  return "export: " + (in_way.empty() ? name
                       : sets.empty() ? "none"
                                      : fmt::format("none ({} with {})", name, sets));
}

RunConfig opened_elsewhere(const RunConfig& config) {
  const auto [row, in_way] = nearest_class("huggingface", resolved(given_keys(config)));
  const vector<string> sets = sets_of(in_way);
  if (sets.empty() && !in_way.empty())
    throw usage_error("no class of huggingface computes what a model of objective.type {} does.",
                      config.objective.type)
        .hint("--like gpt or pairs");
  return with(given_keys(config), read_sets(sets)).values;
}

Json foreign_config(const Json& row, const RunConfig& config, int source_vocab, int vocab) {
  Json values = values_of(config, source_vocab, vocab), json = row.at("config");
  if (config.model.activation == Activation::gelu_tanh) values["activation"] = "gelu_new";
  fill_in(json, values);
  return json;
}

int longest_read(const RunConfig& c) {
  return c.model.positions == Positions::learned || c.data.has_pairs() ? c.model.max_length
                                                                       : c.objective.target_length;
}

vector<ForeignTensor> foreign_tensors(const Json& row, const Transformer& model) {
  const ModelConfig& c = model.config;
  const int d_head = c.d_model / c.n_heads;
  const bool rotary = c.positions == Positions::rotary && !row.value("pairs_turn", false);
  const bool sinusoidal = c.positions == Positions::sinusoidal;
  vector<ForeignTensor> all;
  for (const ParamInfo& info : model.table.infos()) {
    string name = info.name;
    for (const auto& [from, to] : row.at("names").items())
      name = replace_all(name, from, to.get<string>());
    if (all.empty() || all.back().name != name) all.push_back({name, Shape(info.vector ? 1 : 2)});
    add_part(info, rotary ? d_head : 2, sinusoidal ? c.d_model : 2, all.back());
  }
  for (ForeignTensor& t : all) {
    const auto is = [&](const char* key) {
      return row.contains(key) && t.name.find(row.at(key).get<string>()) != t.name.npos;
    };
    if (is("by_head")) t.rows = by_head(t.rows, d_head);
    if (is("transposed") && t.shape.size() == 2) std::swap(t.rows, t.columns);
    t.shape.front() = ssize(t.rows);
    if (t.shape.size() == 2) t.shape.back() = ssize(t.columns);
  }
  const Json fixed = row.value("fixed", Json::object());
  for (const auto& [name, kind] : fixed.items()) {
    const bool zeros = kind == "zeros";
    all.push_back({name, zeros ? Shape{1, model.target_vocab} : Shape{c.max_length, c.d_model}});
    all.back().fixed =
        zeros ? vector<float>(model.target_vocab) : sinusoids(c.max_length, c.d_model);
  }
  return all;
}

vector<float> numbers_of(const ForeignTensor& tensor, const ParamVec<float>& values) {
  vector<float> numbers = tensor.fixed;
  for (const size_t row : tensor.rows)
    for (const size_t column : tensor.columns) numbers.push_back(values.data()[row + column]);
  return numbers;
}

}  // namespace heed
