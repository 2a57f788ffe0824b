#include "store/gguf.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/files.h"
#include "store/huggingface.h"
#include "text/piece_model.h"

namespace heed {
namespace {

constexpr const char* kNames =
    "embed_tokens=token_embd lm_head=output decoder.norm=output_norm decoder.layers=blk "
    "self_attn_norm=attn_norm self_attn.q_proj=attn_q self_attn.k_proj=attn_k "
    "self_attn.v_proj=attn_v self_attn.out_proj=attn_output self_attn.q_norm=attn_q_norm "
    "self_attn.k_norm=attn_k_norm fc_gate=ffn_gate fc1=ffn_up fc2=ffn_down";
constexpr std::size_t kAlignment = 32;
constexpr int kBlock = 32;  // numbers of q8_0 that share a scale

template <class T>
std::string bytes_of(T number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string bytes_of(const std::string& text) {
  return bytes_of(std::uint64_t{text.size()}) + text;
}

// The numbers of the format's types of values.
template <class T>
constexpr std::uint32_t kValueType = 8;  // text
template <>
constexpr std::uint32_t kValueType<std::uint32_t> = 4;
template <>
constexpr std::uint32_t kValueType<std::int32_t> = 5;
template <>
constexpr std::uint32_t kValueType<float> = 6;
template <>
constexpr std::uint32_t kValueType<bool> = 7;

struct Metadata {
  std::uint64_t count = 0;
  std::string bytes = {};

  template <class T>
  void add(const std::string& key, const T& value) {
    ++count;
    bytes += bytes_of(key) + bytes_of(kValueType<T>) + bytes_of(value);
  }
  template <class T>
  void add(const std::string& key, const std::vector<T>& values) {
    constexpr std::uint32_t kArray = 9;
    ++count;
    bytes += bytes_of(key) + bytes_of(kArray) + bytes_of(kValueType<T>) +
             bytes_of(std::uint64_t{values.size()});
    for (const T& value : values) bytes += bytes_of(value);
  }
};

void add_tokenizer(const PieceModel& model, Metadata& to) {
  enum : std::int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kByte = 6 };
  std::vector<std::string> tokens(Tokenizer::kFirstSpecials.begin(),
                                  Tokenizer::kFirstSpecials.end());
  tokens.insert(tokens.end(), model.specials.begin(), model.specials.end());
  std::vector<std::int32_t> types(tokens.size(), kControl);
  types[Tokenizer::kUnk] = kUnknown;
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(byte_piece(byte));
  types.resize(tokens.size(), kByte);
  std::vector<float> scores(tokens.size());
  for (const PieceModel::Piece& piece : model.pieces) {
    tokens.push_back(piece.text);
    scores.push_back(piece.score);
  }
  types.resize(tokens.size(), kNormal);
  const std::string prefix = "tokenizer.ggml.";
  to.add<std::string>(prefix + "model", model.unigram ? "t5" : "llama");
  to.add(prefix + "tokens", tokens);
  to.add(prefix + "scores", scores);
  to.add(prefix + "token_type", types);
  to.add(prefix + "unknown_token_id", std::uint32_t{Tokenizer::kUnk});
  to.add(prefix + "bos_token_id", std::uint32_t{Tokenizer::kBos});
  to.add(prefix + "eos_token_id", std::uint32_t{Tokenizer::kEos});
  to.add(prefix + "padding_token_id", std::uint32_t{Tokenizer::kEos});
  to.add(prefix + "add_bos_token", true);
  for (const char* no : {"add_eos_token", "add_space_prefix", "remove_extra_whitespaces"})
    to.add(prefix + no, false);
}

void add_sizes(const RunConfig& config, const std::string& family, Metadata& to) {
  const ModelConfig& c = config.model;
  const auto add = [&](const char* key, int value) {
    to.add(family + "." + key, static_cast<std::uint32_t>(value));
  };
  const int d_head = c.d_model / c.n_heads;
  add("context_length", longest_read(config));
  add("embedding_length", c.d_model);
  add("block_count", c.decoder_layers);
  add("feed_forward_length", c.d_ff);
  add("attention.head_count", c.n_heads);
  add("attention.head_count_kv", kv_heads(c));
  for (const char* key : {"attention.key_length", "attention.value_length", "rope.dimension_count"})
    add(key, d_head);
  to.add(family + ".attention.layer_norm_rms_epsilon", static_cast<float>(c.norm_eps));
  to.add(family + ".rope.freq_base", static_cast<float>(c.rope_base));
}

GgufType type_of(const ForeignTensor& t, GgufType wanted) {
  if (t.shape.size() == 1) return GgufType::f32;
  return wanted == GgufType::q8_0 && t.shape.back() % kBlock != 0 ? GgufType::f16 : wanted;
}

std::string in_type(const std::vector<float>& numbers, GgufType type) {
  std::string bytes;
  if (type == GgufType::q8_0) {
    for (std::size_t i = 0; i < numbers.size(); i += kBlock) {
      const std::span<const float> block(numbers.data() + i, kBlock);
      float largest = 0;
      for (const float x : block) largest = std::max(largest, std::abs(x));
      const float scale = largest / 127;
      bytes += bytes_of(static_cast<_Float16>(scale));
      for (const float x : block)
        bytes += static_cast<char>(scale > 0 ? std::lround(x / scale) : 0);
    }
  } else {
    for (const float x : numbers)
      bytes += type == GgufType::f32 ? bytes_of(x) : bytes_of(static_cast<_Float16>(x));
  }
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
  return bytes;
}

// llama.cpp's class of the model.
std::string family_of(const TrainedModel& m) {
  const HuggingFaceClass& row = huggingface_class(m.config);
  const std::string family = row.type;
  const auto require = [](bool holds, const std::string& what, const char* hint) {
    if (!holds) throw Error(Exit::usage, "llama.cpp " + what + ".", hint);
  };
  require(family == "qwen3" || family == "llama",
          std::string("is given Qwen3 and Llama only, and this model is ") + row.name,
          "--to huggingface");
  require(m.config.model.activation == Activation::silu,
          "computes model.activation silu in such a model", "--set model.activation=silu");
  require(is_subword(m.config.tokenizer.type), "reads tokenizer.type bpe or unigram",
          "--to huggingface");
  require(!m.config.data.changes_text(), "neither lower-cases nor normalises a text",
          "--to huggingface");
  return family;
}

}  // namespace

void write_gguf(const std::filesystem::path& path, const TrainedModel& m, GgufType type) {
  const std::string family = family_of(m);
  const PieceModel pieces = read_piece_model(m.tokenizers.target->serialize(), "");
  if (pieces.by_line)
    throw Error(Exit::usage,
                "its tokenizer (tokenizer.file) splits whole lines, unlike llama.cpp.");
  constexpr std::uint32_t kFileTypes[] = {0, 1, 7}, kTensorTypes[] = {0, 1, 8};
  Metadata about;
  about.add("general.architecture", family);
  about.add("general.file_type", kFileTypes[static_cast<int>(type)]);
  about.add("general.quantization_version", std::uint32_t{2});
  add_sizes(m.config, family, about);
  add_tokenizer(pieces, about);

  // Its Llama turns pairs, as heed does.
  const auto tensors = foreign_tensors({.names = kNames, .halves = family == "qwen3"}, m.model);
  std::string list, data;
  for (const ForeignTensor& t : tensors) {
    const GgufType own = type_of(t, type);
    list += bytes_of(t.name) + bytes_of(static_cast<std::uint32_t>(t.shape.size()));
    for (std::size_t i = t.shape.size(); i-- > 0;) list += bytes_of(std::uint64_t(t.shape[i]));
    list += bytes_of(kTensorTypes[static_cast<int>(own)]) + bytes_of(std::uint64_t{data.size()});
    data += in_type(numbers_of(t, m.values), own);
  }
  std::string head = "GGUF" + bytes_of(std::uint32_t{3}) + bytes_of(std::uint64_t{tensors.size()}) +
                     bytes_of(about.count) + about.bytes + list;
  head.resize((head.size() + kAlignment - 1) / kAlignment * kAlignment);
  OutputFile file(path);
  file.write(head);
  file.write(data);
  file.finish();
}

}  // namespace heed
