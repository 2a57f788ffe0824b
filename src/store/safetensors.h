// Tensors in a safetensors file, F32 only. The caller owns the memory of tensors: they are written
// in place, and files are read straight into their slots.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/input_file.h"
#include "base/std_names.h"
#include "nn/param.h"

namespace heed {

// The header of a safetensors file: what is where. Pure functions, safe on any bytes.
//
// A file is 8 bytes little-endian length N, N bytes of JSON, then the numbers. The JSON maps each
// name to {"dtype":"F32","shape":[...],"data_offsets":[begin,end]}, offsets counted from the end
// of the header; "__metadata__" maps strings to strings. The tensors fill the data without holes.
// (Format: https://github.com/huggingface/safetensors, README.)
using Shape = vector<int64_t>;

string to_string(const Shape& shape);  // "[128, 64]"

struct TensorEntry {
  string name;
  Shape shape;
  uint64_t begin = 0;  // bytes from the end of the header
  uint64_t end = 0;
};

// A longer header counts as damaged; heed's own stay far below.
inline constexpr uint64_t kMaxSafetensorsHeader = 16u << 20;

// The entries in the order of their data, checked: F32 only, no duplicates, shapes fit the
// offsets, and the data of `data_size` bytes is covered without holes, overlaps or rest.
// Throws Error (Exit::store) that names `file` and the tensor.
vector<TensorEntry> parse_safetensors_header(string_view json, uint64_t data_size,
                                             const string& file);

// Length field and JSON, padded with spaces so that the data begin at a multiple of 8 bytes.
string format_safetensors_header(const vector<TensorEntry>& entries);

uint64_t numbers_in(const Shape& shape);  // of a tensor

struct TensorSlot {  // to be filled or written
  string name;
  Shape shape;
  float* data;
};

// Vectors are [n].
TensorSlot tensor_slot(string name, const ParamInfo& info, float* data);
// All tensors of a table, in its order. Names get the prefix ("adam.m." ...).
vector<TensorSlot> tensor_slots(const ParamTable& table, ParamVec<float>& values,
                                const string& prefix = "");

// Writes and syncs a file with the tensors in the given order; returns its SHA-256.
string write_safetensors(
    const fs::path& path, span<const TensorSlot> tensors,
    const function<void()>& after_tensor = [] {});

// Names and shapes, in the order of the data. Reads no more of a file, from its first byte on.
vector<TensorEntry> list_safetensors(InputFile& file);

// Fills every slot. The Error names a tensor that is missing, extra or of a wrong shape, before any
// slot is touched.
void read_safetensors(InputFile& file, span<const TensorSlot> slots);

}  // namespace heed
