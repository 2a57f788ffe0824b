// A model as Hugging Face's transformers knows it: the class that computes the same, its
// config.json and its tensors. One table, a row a class; `heed export` reads it forwards, the tests
// (store/huggingface_test.cpp) backwards. Pure functions.
//
// heed's rotary positions turn the pairs (x_2i, x_2i+1) of a head, theirs the halves (x_i,
// x_i+d/2); heed's sinusoids alternate, theirs are all sines, then all cosines. So a head's rows,
// or the whole residual axis, are put in another order.
//
// To add a class: a row in huggingface.cpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "data/run_config.h"
#include "nn/transformer.h"
#include "store/safetensors_header.h"

namespace heed {

// How another program names and orders the numbers of a model.
struct ForeignLayout {
  // "OURS=THEIRS ...": replaced in a tensor's name, in this order. Tensors that then have one name
  // are one tensor, the rows of the first above those of the second.
  const char* names;
  bool halves = true;                     // of rotary positions and of sinusoids
  const char* by_head = nullptr;          // tensors with this in their name: q, k, v of each head
  const char* transposed = nullptr;       // matrices with this in their name are [in, out]
  bool logits_bias = false;               // has final_logits_bias [1, vocab]: zeros
  const char* position_tables = nullptr;  // "NAME ...": tensors with the sinusoids
};

// Number (r, c) is values.data()[rows[r] + columns[c]] of ours; or it is one of `fixed`.
struct ForeignTensor {
  std::string name;
  Shape shape;
  std::vector<std::size_t> rows = {}, columns = {};
  std::vector<float> fixed = {};
};

// Every tensor of the other program. The weights of ours occur once each.
std::vector<ForeignTensor> foreign_tensors(const ForeignLayout& layout, const Transformer& model);
std::vector<float> numbers_of(const ForeignTensor& tensor, const ParamVec<float>& values);

struct HuggingFaceClass {
  // JSON objects: the keys of heed's config that must have these values ("positions":
  // model.positions), and the keys of config.json. "=KEY" is heed's value of a key.
  struct Keys {
    const char *needs, *config;
  };
  const char* name;          // "Qwen3"
  const char* architecture;  // "Qwen3ForCausalLM"
  const char* type;          // "qwen3"
  Keys family, own;          // what several classes share, and what only this one has
  ForeignLayout layout;

  nlohmann::ordered_json needs() const;
  nlohmann::ordered_json config() const;  // "=KEY" not yet filled in
};
std::span<const HuggingFaceClass> huggingface_classes();

// The class that computes what a model does. Error (usage) if there is none: it names the nearest
// one and the keys that stand in the way.
const HuggingFaceClass& huggingface_class(const RunConfig& config);

nlohmann::ordered_json huggingface_config(const HuggingFaceClass& row, const RunConfig& config,
                                          int vocab);
// What the decoder of a model reads at most.
int longest_read(const RunConfig& config);

}  // namespace heed
