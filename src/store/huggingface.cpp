#include "store/huggingface.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/format.h"
#include "config/fields_json.h"
#include "text/tokenizer.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr HuggingFaceClass::Keys kRms = {
    R"({"objective.type": "causal_lm", "encoder_layers": 0, "positions": "rotary", "norm": "pre",
        "norm_type": "rms", "bias": false})",
    R"({"hidden_size": "=d_model", "intermediate_size": "=d_ff", "head_dim": "=d_head",
        "num_hidden_layers": "=decoder_layers", "num_attention_heads": "=n_heads",
        "num_key_value_heads": "=n_kv_heads", "hidden_act": "=activation",
        "max_position_embeddings": "=longest", "rms_norm_eps": "=norm_eps",
        "rope_theta": "=rope_base", "attention_bias": false,
        "rope_parameters": {"rope_type": "default", "rope_theta": "=rope_base"}})"};

constexpr HuggingFaceClass::Keys kLayer = {
    R"({"objective.type": "causal_lm", "encoder_layers": 0, "norm": "pre", "norm_type": "layer",
        "qk_norm": false, "bias": true, "feed_forward": "plain", "n_kv_heads": "=n_heads"})",
    "{}"};

constexpr HuggingFaceClass::Keys kPairs = {
    R"({"objective.type": "seq2seq", "positions": "sinusoidal", "norm_type": "layer",
        "qk_norm": false, "bias": true, "feed_forward": "plain", "n_kv_heads": "=n_heads",
        "norm_eps": 1e-5, "tie": "all"})",
    R"({"d_model": "=d_model", "encoder_layers": "=encoder_layers",
        "decoder_layers": "=decoder_layers", "encoder_attention_heads": "=n_heads",
        "decoder_attention_heads": "=n_heads", "encoder_ffn_dim": "=d_ff",
        "decoder_ffn_dim": "=d_ff", "activation_function": "=activation",
        "max_position_embeddings": "=longest", "scale_embedding": true,
        "is_encoder_decoder": true, "decoder_start_token_id": 1, "forced_eos_token_id": null})"};

constexpr const char* kLlamaNames =
    "embed_tokens=model.embed_tokens decoder.=model. out_proj=o_proj "
    "self_attn_norm=input_layernorm ffn_norm=post_attention_layernorm "
    "fc_gate=mlp.gate_proj fc1=mlp.up_proj fc2=mlp.down_proj";
constexpr const char* kPairNames =
    "embed_tokens=model.shared encoder.=model.encoder. decoder.=model.decoder. "
    "cross_attn=encoder_attn ffn_norm=final_norm norm=layer_norm";

constexpr HuggingFaceClass kClasses[] = {
    {"Qwen3",
     "Qwen3ForCausalLM",
     "qwen3",
     kRms,
     {R"({"qk_norm": true, "feed_forward": "gated"})", "{}"},
     {kLlamaNames}},
    {"Llama",
     "LlamaForCausalLM",
     "llama",
     kRms,
     {R"({"qk_norm": false, "feed_forward": "gated"})", "{}"},
     {kLlamaNames}},
    {"Apertus",
     "ApertusForCausalLM",
     "apertus",
     kRms,
     {R"({"qk_norm": true, "feed_forward": "plain"})", "{}"},
     {"embed_tokens=model.embed_tokens decoder.=model. out_proj=o_proj "
      "self_attn_norm=attention_layernorm ffn_norm=feedforward_layernorm "
      "fc1=mlp.up_proj fc2=mlp.down_proj"}},
    {"GPT-2",
     "GPT2LMHeadModel",
     "gpt2",
     kLayer,
     {R"({"positions": "learned"})",
      R"({"n_embd": "=d_model", "n_inner": "=d_ff", "n_layer": "=decoder_layers",
          "n_head": "=n_heads", "n_positions": "=longest", "activation_function": "=activation",
          "layer_norm_epsilon": "=norm_eps"})"},
     {.names = "embed_tokens=transformer.wte positions=transformer.wpe "
               "decoder.layers=transformer.h decoder.norm=transformer.ln_f self_attn_norm=ln_1 "
               "ffn_norm=ln_2 self_attn.q_proj=attn.c_attn self_attn.k_proj=attn.c_attn "
               "self_attn.v_proj=attn.c_attn self_attn.out_proj=attn.c_proj fc1=mlp.c_fc "
               "fc2=mlp.c_proj",
      .transposed = ".h."}},
    {"GPT-NeoX",
     "GPTNeoXForCausalLM",
     "gpt_neox",
     kLayer,
     {R"({"positions": "rotary"})",
      R"({"hidden_size": "=d_model", "intermediate_size": "=d_ff",
          "num_hidden_layers": "=decoder_layers", "num_attention_heads": "=n_heads",
          "hidden_act": "=activation", "max_position_embeddings": "=longest",
          "layer_norm_eps": "=norm_eps", "use_parallel_residual": false, "rotary_pct": 1.0,
          "rotary_emb_base": "=rope_base", "rope_parameters": {"rope_type": "default",
            "rope_theta": "=rope_base", "partial_rotary_factor": 1.0}})"},
     {.names = "embed_tokens=gpt_neox.embed_in lm_head=embed_out decoder.layers=gpt_neox.layers "
               "decoder.norm=gpt_neox.final_layer_norm self_attn_norm=input_layernorm "
               "ffn_norm=post_attention_layernorm self_attn.q_proj=attention.query_key_value "
               "self_attn.k_proj=attention.query_key_value "
               "self_attn.v_proj=attention.query_key_value self_attn.out_proj=attention.dense "
               "fc1=mlp.dense_h_to_4h fc2=mlp.dense_4h_to_h",
      .by_head = "query_key_value"}},
    {"Pegasus",
     "PegasusForConditionalGeneration",
     "pegasus",
     kPairs,
     {R"({"norm": "pre"})", "{}"},
     {.names = kPairNames,
      .logits_bias = true,
      .position_tables =
          "model.encoder.embed_positions.weight model.decoder.embed_positions.weight"}},
    {"Marian",
     "MarianMTModel",
     "marian",
     kPairs,
     {R"({"norm": "post"})",
      R"({"decoder_vocab_size": "=vocab_size", "share_encoder_decoder_embeddings": true})"},
     {.names = kPairNames, .logits_bias = true}},
};

Json merged(const char* family, const char* own) {
  Json all = Json::parse(family);
  all.update(Json::parse(own));
  return all;
}

// The values that "=KEY" stands for: those of the section model, and what follows from a config.
Json values_of(const RunConfig& config, int vocab = 0) {
  RunConfig c = config;
  Json values = dump_fields(fields(c.model));
  values["objective.type"] = c.objective.type;
  values["n_kv_heads"] = kv_heads(c.model);
  values["d_head"] = c.model.d_model / c.model.n_heads;
  values["longest"] = longest_read(c);
  values["vocab_size"] = vocab;
  values["eos"] = c.model.encoder_layers > 0 ? Json(Tokenizer::kEos) : Json();  // texts never end
  values["tied"] = c.model.tie != Tie::none;
  if (c.model.activation == Activation::gelu_tanh) values["activation"] = "gelu_new";
  return values;
}

void fill_in(Json& json, const Json& values) {
  if (json.is_object())
    for (Json& member : json) fill_in(member, values);
  if (json.is_string() && json.get_ref<const std::string&>().starts_with('='))
    json = Json(values.at(json.get_ref<const std::string&>().substr(1)));
}

// The changes that would make a row's class compute what the model does.
std::vector<KeyChange> in_the_way(const HuggingFaceClass& row, RunConfig config) {
  const Json values = values_of(config);
  Json needs = row.needs();
  fill_in(needs, values);
  std::vector<KeyChange> changes;
  for (const auto& [key, value] : needs.items())
    if (values.at(key) != value)
      changes.push_back({key.find('.') == key.npos ? "model." + key : key, values.at(key).dump(),
                         value.dump(), OnResume::refused});
  ModelConfig whole;
  for (KeyChange& change : changed_fields(fields(config.model), fields(whole)))
    if (change.key.starts_with("attention.")) {
      change.key.insert(0, "model.");
      changes.push_back(std::move(change));
    }
  return changes;
}

std::string renamed(std::string name, const char* names) {
  std::istringstream pairs(names);
  for (std::string pair; pairs >> pair;) {
    const std::size_t equals = pair.find('=');
    name = replace_all(name, pair.substr(0, equals), pair.substr(equals + 1));
  }
  return name;
}

// Their place i, among groups of `width` whose even places they have first, then the odd ones, is
// ours. A width of 2 changes nothing.
std::size_t our_place(std::size_t i, std::size_t width) {
  const std::size_t at = i % width, half = width / 2;
  return i - at + (at < half ? 2 * at : 2 * (at - half) + 1);
}

std::vector<std::size_t> by_head(const std::vector<std::size_t>& rows, std::size_t d_head) {
  const std::size_t d = rows.size() / 3;
  std::vector<std::size_t> out;
  for (std::size_t head = 0; head < d; head += d_head)
    for (std::size_t part = 0; part < rows.size(); part += d)
      out.insert(out.end(), rows.begin() + part + head, rows.begin() + part + head + d_head);
  return out;
}

std::vector<float> sinusoids(int length, int d) {
  std::vector<float> table;
  for (int p = 0; p < length; ++p)
    for (int c = 0; c < d; ++c) {
      const double angle = p / std::pow(10000.0, 2.0 * (c % (d / 2)) / d);
      table.push_back(static_cast<float>(c < d / 2 ? std::sin(angle) : std::cos(angle)));
    }
  return table;
}

// The rows and columns of one of our tensors, appended to those of theirs.
void add_part(const ParamInfo& info, std::size_t head, std::size_t residual, ForeignTensor& out) {
  const auto has = [&](const char* part) { return info.name.find(part) != std::string::npos; };
  const bool turned = has("q_proj") || has("k_proj") || has("q_norm") || has("k_norm");
  const bool writes = has("out_proj") || has("fc2");  // to the residual axis
  const std::size_t width = turned ? head : writes || has("norm") ? residual : 2;
  const std::size_t n = info.vector ? info.param.cols : info.param.rows;
  const std::size_t stride = info.vector ? 1 : info.param.cols;
  for (std::size_t i = 0; i < n; ++i)
    out.rows.push_back(info.param.offset + our_place(i, width) * stride);
  out.columns.clear();
  for (std::size_t i = 0; i < stride; ++i)
    out.columns.push_back(our_place(i, writes || info.vector ? 2 : residual));
}

}  // namespace

std::vector<ForeignTensor> foreign_tensors(const ForeignLayout& layout, const Transformer& model) {
  const ModelConfig& c = model.config;
  const bool sinusoidal = layout.halves && c.positions == Positions::sinusoidal;
  const bool rotary = layout.halves && c.positions == Positions::rotary;
  const int d_head = c.d_model / c.n_heads;
  std::vector<ForeignTensor> all;
  for (const ParamInfo& info : model.table.infos()) {
    const std::string name = renamed(info.name, layout.names);
    if (all.empty() || all.back().name != name) all.push_back({name, Shape(info.vector ? 1 : 2)});
    add_part(info, rotary ? d_head : 2, sinusoidal ? c.d_model : 2, all.back());
  }
  for (ForeignTensor& t : all) {
    const auto has = [&](const char* part) { return part && t.name.find(part) != t.name.npos; };
    if (has(layout.by_head)) t.rows = by_head(t.rows, d_head);
    if (has(layout.transposed) && t.shape.size() == 2) std::swap(t.rows, t.columns);
    t.shape.front() = std::ssize(t.rows);
    if (t.shape.size() == 2) t.shape.back() = std::ssize(t.columns);
  }
  if (layout.logits_bias)
    all.push_back({.name = "final_logits_bias",
                   .shape = {1, model.target_vocab},
                   .fixed = std::vector<float>(model.target_vocab)});
  std::istringstream names(layout.position_tables ? layout.position_tables : "");
  for (std::string name; names >> name;)
    all.push_back({.name = name,
                   .shape = {c.max_length, c.d_model},
                   .fixed = sinusoids(c.max_length, c.d_model)});
  return all;
}

std::vector<float> numbers_of(const ForeignTensor& tensor, const ParamVec<float>& values) {
  std::vector<float> numbers = tensor.fixed;
  for (const std::size_t row : tensor.rows)
    for (const std::size_t column : tensor.columns) numbers.push_back(values.data()[row + column]);
  return numbers;
}

Json HuggingFaceClass::needs() const {
  return merged(family.needs, own.needs);
}

Json HuggingFaceClass::config() const {
  Json all = merged(family.config, own.config);
  all.update(Json{{"architectures", {architecture}},
                  {"model_type", type},
                  {"dtype", "float32"},
                  {"vocab_size", "=vocab_size"},
                  {"bos_token_id", Tokenizer::kBos},
                  {"eos_token_id", "=eos"},
                  {"pad_token_id", Tokenizer::kEos},
                  {"tie_word_embeddings", "=tied"}});
  return all;
}

std::span<const HuggingFaceClass> huggingface_classes() {
  return kClasses;
}

const HuggingFaceClass& huggingface_class(const RunConfig& config) {
  const auto distance = [&](const HuggingFaceClass& row) { return in_the_way(row, config).size(); };
  const HuggingFaceClass& nearest = *std::ranges::min_element(kClasses, {}, distance);
  std::vector<std::string> changes, sets;
  for (const KeyChange& change : in_the_way(nearest, config)) {
    changes.push_back(in_words(change));
    sets.push_back(fmt::format("--set {}={}", change.key, replace_all(change.after, "\"", "")));
  }
  if (changes.empty()) return nearest;
  throw Error(Exit::usage,
              fmt::format("no class of Hugging Face computes what this model does. The nearest is "
                          "{}, with {}.",
                          nearest.name, listed(changes)),
              "another training, with " + joined(sets, " "));
}

Json huggingface_config(const HuggingFaceClass& row, const RunConfig& config, int vocab) {
  Json json = row.config();
  fill_in(json, values_of(config, vocab));
  return json;
}

int longest_read(const RunConfig& c) {
  return c.model.positions == Positions::learned || c.model.encoder_layers > 0
             ? c.model.max_length
             : c.objective.target_length;
}

}  // namespace heed
