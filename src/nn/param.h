// The parameters of a model: where they are, and the arrays that hold them.
//
// A ParamTable lists every tensor once: name, shape, place in one flat array, initial values,
// weight decay. Initialisation, optimizer, clipping, reduction, checkpoints and the parameter table
// all use this list. A ParamVec is such a flat array: values, gradients, Adam's m and v are one
// each. Copying a Param ties two weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "config/model_config.h"
#include "math/mat.h"

namespace heed {

struct Param {
  size_t offset = 0;
  int rows = 0;
  int cols = 0;
  size_t size() const { return size_t(rows) * cols; }
};

// The initial values of a tensor.
struct Initializer {
  enum Kind { zeros, ones, uniform, normal, identity };
  Kind kind = uniform;
  // uniform: half-width, where 0 means sqrt(6 / (rows + cols)) (Glorot and Bengio 2010). normal:
  // standard deviation.
  double scale = 0.0;
  bool frozen = false;  // ablations: the optimizer never updates it
};

struct ParamInfo {
  string name;  // as in the safetensors file, e.g. "encoder.layers.0.fc1.weight"
  Param param;  // a vector is stored as [1, n] here and as [n] in files
  bool vector;  // one-dimensional: biases and norms; never decayed
  Initializer init;
};

class ParamTable {
 public:
  // Adds a [rows, cols] weight. Tensors added in sequence are adjacent in memory.
  Param add_matrix(const string& name, int rows, int cols, Initializer init) {
    if (init.kind == Initializer::uniform && init.scale == 0)
      init.scale = sqrt(6.0 / (rows + cols));
    return add({name, {0, rows, cols}, false, init});
  }
  Param add_vector(const string& name, int n, Initializer::Kind kind) {
    return add({name, {0, 1, n}, true, {kind}});
  }

  const vector<ParamInfo>& infos() const { return infos_; }
  size_t size() const { return size_; }  // total number of parameters

 private:
  Param add(ParamInfo info) {
    info.param.offset = size_;
    size_ += info.param.size();
    infos_.push_back(info);
    return info.param;
  }
  vector<ParamInfo> infos_;
  size_t size_ = 0;
};

// One flat array for all tensors of a table, 64-byte aligned, initially zero. Owns its memory, of
// which what has never been written costs nothing: a rank's moments are those of its slice.
template <class T>
class ParamVec {
 public:
  ParamVec() = default;
  explicit ParamVec(size_t size) : size_(size) {
    void* whole = std::calloc(size * sizeof(T) + 192, 1);
    if (whole == nullptr) throw bad_alloc();
    const auto address = (reinterpret_cast<std::uintptr_t>(whole) + sizeof whole + 63) / 64 * 64;
    reinterpret_cast<void**>(address)[-1] = whole;
    data_.reset(reinterpret_cast<T*>(address));
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }
  Mat<T> operator[](Param p) { return {data() + p.offset, p.rows, p.cols}; }
  Mat<const T> operator[](Param p) const { return {data() + p.offset, p.rows, p.cols}; }

 private:
  struct FreeWhole {  // calloc's address stands before the first number
    void operator()(T* data) const { std::free(reinterpret_cast<void**>(data)[-1]); }
  };
  unique_ptr<T[], FreeWhole> data_;
  size_t size_ = 0;
};

template <class To, class From>
ParamVec<To> copy_as(const ParamVec<From>& from) {
  ParamVec<To> to(from.size());
  std::copy_n(from.data(), from.size(), to.data());
  return to;
}

// Initial values: a pure function of the table and the seed.
template <class T>
void initialize(const ParamTable& table, uint64_t seed, ParamVec<T>& values);

// The initial weights of a layer (model.init, model.zero_init). One value for a whole stack.
struct LayerInit {
  Initializer weight;
  Initializer branch_output;  // of the last matrix of a residual branch

  LayerInit() = default;
  // xavier_uniform: Glorot and Bengio 2010. gpt2: normal, with branch outputs scaled by
  // 1 / sqrt(number of residual branches) (Radford et al. 2019, section 2.3). zero_init: these are
  // 0, so that every branch adds 0 at first (Zhang, Dauphin and Ma 2019, "Fixup").
  LayerInit(const ModelConfig& config, int residual_branches) {
    if (config.init == Init::gpt2) {
      weight = {Initializer::normal, 0.02};
      branch_output = {Initializer::normal, 0.02 / sqrt(residual_branches)};
    }
    if (config.zero_init) branch_output = {Initializer::zeros};
  }
};

// The weights in blocks of at most 32,768 numbers, in the order of memory. Every tensor begins a
// new block.
//
// All that runs over the weights in a step runs over this one list: the sum of the shards'
// gradients, the norm for clipping (a tree over the blocks), the optimizer, the averaged weights.
// A block is done by one thread from end to end. So a slice of the weights is a run of whole
// blocks, and its numbers do not depend on who computes the other slices.
constexpr size_t kWeightBlock = size_t{1} << 15;

struct WeightBlock {
  size_t begin, end;  // in a ParamVec
  const ParamInfo* tensor;
};

// The table must outlive the list.
inline vector<WeightBlock> weight_blocks(const ParamTable& table) {
  vector<WeightBlock> blocks;
  for (const ParamInfo& info : table.infos()) {
    const size_t end = info.param.offset + info.param.size();
    for (size_t begin = info.param.offset; begin < end; begin += kWeightBlock)
      blocks.push_back({begin, min(end, begin + kWeightBlock), &info});
  }
  return blocks;
}

}  // namespace heed
