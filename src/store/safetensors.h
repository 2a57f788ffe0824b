// Tensors in a safetensors file, F32 only. The caller owns the memory of tensors: views are
// written in place, and files are read straight into their slots.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/input_file.h"
#include "nn/param.h"
#include "store/safetensors_header.h"

namespace heed {

std::uint64_t numbers_in(const Shape& shape);  // of a tensor

template <class T>
struct Tensor {
  std::string name;
  Shape shape;
  T* data;
};
using TensorView = Tensor<const float>;  // to be written
using TensorSlot = Tensor<float>;        // to be filled

// Vectors are [n].
TensorSlot tensor_slot(std::string name, const ParamInfo& info, float* data);
// All tensors of a table, in its order. Names get the prefix ("adam.m." ...).
std::vector<TensorSlot> tensor_slots(const ParamTable& table, ParamVec<float>& values,
                                     const std::string& prefix = "");
std::vector<TensorView> views_of(const std::vector<TensorSlot>& slots);

// Writes and syncs a file with the tensors in the given order; returns its SHA-256.
std::string write_safetensors(
    const std::filesystem::path& path, std::span<const TensorView> tensors,
    SystemCalls& calls = system_calls(), const std::function<void()>& after_tensor = [] {});

// Names and shapes, in the order of the data. Reads no more of a file, from its first byte on.
std::vector<TensorEntry> list_safetensors(InputFile& file);

// Fills every slot. Missing, extra tensors and those of a wrong shape are all named in one Error,
// before any slot is touched.
void read_safetensors(InputFile& file, std::span<const TensorSlot> slots);

}  // namespace heed
