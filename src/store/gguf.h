// A model in a GGUF file (version 3), as llama.cpp reads it, its tokenizer inside. The format:
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
#pragma once

#include <filesystem>
#include <string>

#include "store/model.h"

namespace heed {

enum class GgufType { f32, f16, q8_0 };  // of the matrices; q8_0: 32 numbers share a scale

// Error (usage) unless llama.cpp's Qwen3 or Llama computes what the model does and its tokenizer is
// bpe or unigram.
void write_gguf(const std::filesystem::path& path, const Model& model, const std::string& name,
                GgufType type);

}  // namespace heed
