#include "store/huggingface.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/float16.h"
#include "base/json.h"
#include "base/std_names.h"

namespace heed {
namespace {

constexpr size_t kAlignment = 32;
constexpr int kBlock = 32;  // numbers of q8_0 that share a scale

string counted_bytes(const string& text) {
  return bytes_of(uint64_t{text.size()}) + text;
}

void pad(string& bytes) {
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
}

// A value of the metadata, and the number of its type: whole numbers have no sign, but in a list.
struct Value {
  uint32_t type;
  string bytes;
};
Value value_of(const Json& json) {
  if (json.is_number_float()) return {6, bytes_of(json.get<float>())};
  if (json.is_number()) return {4, bytes_of(json.get<uint32_t>())};
  if (json.is_boolean()) return {7, bytes_of(json.get<bool>())};
  if (json.is_string()) return {8, counted_bytes(json.get<string>())};
  string items;
  for (const Json& item : json) items += value_of(item).bytes;
  const uint32_t type = value_of(json[0]).type, of_item = type == 4 ? 5 : type;
  return {9, bytes_of(of_item) + bytes_of(uint64_t{json.size()}) + items};
}

void add_tokenizer(const PieceModel& model, Json& about) {
  vector<string> tokens;
  vector<float> scores;
  vector<int> types;
  for (const PieceModel::Piece& piece : all_pieces(model)) {
    tokens.push_back(piece.text);
    scores.push_back(piece.score);
    types.push_back(piece.type);  // llama.cpp's numbers are SentencePiece's
  }
  const Json tokenizer = {{"model", model.unigram ? "t5" : "llama"},
                          {"tokens", tokens},
                          {"scores", scores},
                          {"token_type", types},
                          {"unknown_token_id", Tokenizer::kUnk},
                          {"bos_token_id", Tokenizer::kBos},
                          {"eos_token_id", Tokenizer::kEos},
                          {"padding_token_id", Tokenizer::kEos},
                          {"add_bos_token", true},
                          {"add_eos_token", false},
                          {"add_space_prefix", false},
                          {"remove_extra_whitespaces", false}};
  for (const auto& [key, value] : tokenizer.items()) about["tokenizer.ggml." + key] = value;
}

string in_type(const vector<float>& numbers, GgufType type, const string& name) {
  const auto half = [&](float x) { return bytes_of(to_float16(x, name, "--type f32")); };
  string bytes;
  if (type == GgufType::q8_0)
    for (size_t i = 0; i < numbers.size(); i += kBlock) {
      const span<const float> block(numbers.data() + i, kBlock);
      float largest = 0;
      for (const float x : block) largest = max(largest, abs(x));
      const float scale = largest / 127;
      bytes += half(scale);
      for (const float x : block) bytes += char(scale > 0 ? std::lround(x / scale) : 0);
    }
  else
    for (const float x : numbers) bytes += type == GgufType::f32 ? bytes_of(x) : half(x);
  pad(bytes);
  return bytes;
}

}  // namespace

void write_gguf(const fs::path& path, const Model& m, const string& name, GgufType type) {
  const Json row = foreign_class("gguf", m.config);
  const Tokenizer& tokenizer = *m.tokenizers.target;
  constexpr uint32_t kFileTypes[] = {0, 1, 7}, kTensorTypes[] = {0, 1, 8};
  const string architecture = row.at("architecture");
  Json about = {{"general.architecture", architecture},
                {"general.name", name},
                {"general.description", "trained with heed"},
                {"general.file_type", kFileTypes[int(type)]},
                {"general.quantization_version", 2}};
  const Json config = foreign_config(row, m.config, 0, tokenizer.size());
  for (const auto& [key, value] : config.items()) about[architecture + "." + key] = value;
  add_tokenizer(pieces_of_words(tokenizer), about);

  const auto tensors = foreign_tensors(row, m.net);
  string head = "GGUF" + bytes_of(uint32_t{3}) + bytes_of(uint64_t{tensors.size()}) +
                bytes_of(uint64_t{about.size()});
  for (const auto& [key, json] : about.items()) {
    const Value value = value_of(json);
    head += counted_bytes(key) + bytes_of(value.type) + value.bytes;
  }
  string data;
  for (const ForeignTensor& t : tensors) {
    const bool vector = t.shape.size() == 1, whole_blocks = t.shape.back() % kBlock == 0;
    const GgufType own = vector                                    ? GgufType::f32
                         : type == GgufType::q8_0 && !whole_blocks ? GgufType::f16
                                                                   : type;
    head += counted_bytes(t.name) + bytes_of(uint32_t(t.shape.size()));
    for (size_t i = t.shape.size(); i-- > 0;) head += bytes_of(uint64_t(t.shape[i]));
    head += bytes_of(kTensorTypes[int(own)]) + bytes_of(uint64_t{data.size()});
    data += in_type(numbers_of(t, m.values), own, t.name);
  }
  pad(head);
  OutputFile file(path);
  file.write(head);
  file.write(data);
  file.finish();
}

}  // namespace heed
