// Tensors in a safetensors file, F32 only. The caller owns the memory of tensors: they are written
// in place, and files are read straight into their slots.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

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

// How many numbers a file says it has. Error (store) if it is shorter or longer than that.
uint64_t count_numbers(InputFile& file);

// Fills the slots from a file that was written with tensors of their names and shapes, in their
// order. Else Error (store), before any slot is touched.
void read_safetensors(InputFile& file, span<const TensorSlot> slots);

}  // namespace heed
