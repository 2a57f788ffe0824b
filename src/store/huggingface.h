// A model as other programs know it: the class that computes the same, its config and its tensors.
// One table, a row a class, is in huggingface.json; `heed export` reads it forwards, the tests
// (store/huggingface_test.cpp) backwards. Pure functions.
//
// A row has the keys of its family and its own:
//   needs       the keys of heed's config that must have these values ("positions":
//               model.positions); one of a list
//   config      the keys of the program's config
//   names       replaced in our tensors' names, in this order; tensors that then have one name are
//               one tensor, the rows of the first above those of the second
//   by_head, transposed   parts of their names: tensors with q, k, v of one head after the other;
//               matrices [in, out]
//   fixed       tensors that are no weights: "zeros" [1, vocab] or "sinusoids" of positions
//   pairs_turn  rotary positions turn the pairs (x_2i, x_2i+1) of a head as in heed; else the
//               halves (x_i, x_i+d/2), and sinusoids do not alternate: sines, then cosines. Then a
//               head's rows, or the whole residual axis, have another order
// "=KEY" is heed's value of a key. To add a class: a row. "tokenizer" has the parts of a
// tokenizer.json (huggingface_tokenizer.cpp), "card" is the text of a model card (cli/export.cpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/std_names.h"
#include "data/run_config.h"
#include "nn/transformer.h"
#include "store/model.h"
#include "store/safetensors.h"
#include "text/piece_model.h"
#include "text/tokenizer.h"

namespace heed {

Json foreign_table();  // huggingface.json
// Replaces each "=KEY" in a part of it.
void fill_in(Json& part, const Json& values);

// The rows for "huggingface" or "gguf".
Json foreign_classes(const string& program);
// The row that computes what a model does. Error (usage) if there is none: it names the nearest one
// and the keys that stand in the way.
Json foreign_class(const string& program, const RunConfig& config);
// "export: Qwen3", or none, and which with other keys.
string opens_as(const RunConfig& config);
// The config with the keys that it takes to open there. Error (usage) if they would make it another
// kind of model.
RunConfig opened_elsewhere(const RunConfig& config);
// Its config for a model with so many ids on each side.
Json foreign_config(const Json& row, const RunConfig& config, int source_vocab, int vocab);
int longest_read(const RunConfig& config);  // what the decoder reads at most

// Number (r, c) is values.data()[rows[r] + columns[c]] of ours; or it is one of `fixed`.
struct ForeignTensor {
  string name;
  Shape shape;
  vector<size_t> rows = {}, columns = {};
  vector<float> fixed = {};
};
// Every tensor of the other program. The weights of ours occur once each.
vector<ForeignTensor> foreign_tensors(const Json& row, const Transformer& model);
vector<float> numbers_of(const ForeignTensor& tensor, const ParamVec<float>& values);

// The learnt part of a bpe or unigram tokenizer. Error (usage) for a tokenizer.file that splits
// whole lines, not words.
PieceModel pieces_of_words(const Tokenizer& tokenizer);

// A tokenizer as Hugging Face's library `tokenizers` reads it (tokenizer.json and
// tokenizer_config.json): the same ids for the same text, and the same text for the same ids. Names
// of special tokens in a text are ordinary text, which that library does only with
// "split_special_tokens" in tokenizer_config.json. Of one side, or of the whole model if its sides
// share one. Frames a text as the model reads it: <s> before a text, </s> after a line of pairs.
// Error (usage) as above.
vector<NamedBytes> huggingface_tokenizer(const Model& model, Side side);

// A model in a GGUF file (version 3), as llama.cpp reads it, its tokenizer inside. The format:
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
enum class GgufType { f32, f16, q8_0 };  // of the matrices; q8_0: 32 numbers share a scale

// Error (usage) unless llama.cpp's Qwen3 or Llama computes what the model does and its tokenizer is
// bpe or unigram.
void write_gguf(const fs::path& path, const Model& model, const string& name, GgufType type);

}  // namespace heed
