// The header of a safetensors file: what is where. Pure functions, safe on any bytes.
//
// A file is 8 bytes little-endian length N, N bytes of JSON, then the numbers. The JSON maps each
// name to {"dtype":"F32","shape":[...],"data_offsets":[begin,end]}, offsets counted from the end
// of the header; "__metadata__" maps strings to strings. The tensors fill the data without holes.
// (Format: https://github.com/huggingface/safetensors, README.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

using Shape = std::vector<std::int64_t>;

std::string to_string(const Shape& shape);  // "[128, 64]"

struct TensorEntry {
  std::string name;
  Shape shape;
  std::uint64_t begin = 0;  // bytes from the end of the header
  std::uint64_t end = 0;
};

// A header beyond these limits counts as damaged; heed's own stay far below.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 16u << 20;
inline constexpr std::size_t kMaxTensorRank = 8;

// The entries in the order of their data, checked: F32 only, no duplicates, shapes fit the
// offsets, and the data of `data_size` bytes is covered without holes, overlaps or rest.
// Throws Error (Exit::store) that names `file` and the tensor.
std::vector<TensorEntry> parse_safetensors_header(std::string_view json, std::uint64_t data_size,
                                                  const std::string& file);

// Length field and JSON, padded with spaces so that the data begin at a multiple of 8 bytes.
std::string format_safetensors_header(const std::vector<TensorEntry>& entries);

}  // namespace heed
