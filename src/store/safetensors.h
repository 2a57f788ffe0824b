// Tensors in a safetensors file, F32 only. The caller owns the memory of tensors: they are written
// in place, and files are read straight into their slots.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/files.h"
#include "base/input_file.h"
#include "base/std_names.h"
#include "nn/param.h"

namespace heed {

// A file is 8 bytes little-endian length N, N bytes of JSON padded with spaces so that the data
// begin at a multiple of 8 bytes, then the numbers. The JSON maps each name to {"dtype":"F32",
// "shape":[...],"data_offsets":[begin,end]}, offsets counted from the end of the header;
// "__metadata__" maps strings to strings. The tensors fill the data without holes.
// (Format: https://github.com/huggingface/safetensors, README.)
using Shape = vector<int64_t>;

struct TensorEntry {
  string dtype = "F32";
  Shape shape;
  vector<uint64_t> data_offsets;  // [begin, end] in bytes
  bool operator==(const TensorEntry&) const = default;
};
void fields(TensorEntry& t, auto visit) {
  visit("dtype", t.dtype, "shape", t.shape, "data_offsets", t.data_offsets);
}

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

// The entries by name, in the order of the data; unchecked, but the file ends where the last one
// does, else Error (store). Reads no more of a file, from its first byte on.
ByName<TensorEntry> list_safetensors(InputFile& file);

// Fills every slot. Error (store) that names the first tensor that is missing, extra or not of the
// slot's shape, before any slot is touched.
void read_safetensors(InputFile& file, span<const TensorSlot> slots);

}  // namespace heed
