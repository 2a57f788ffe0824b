// Where the numbers of a model live, without the numbers.
//
// A ParamTable lists every tensor once: name, shape, place in one flat array, how it starts,
// whether weight decay applies. Initialisation, optimizer, clipping, reduction, checkpoints and the
// parameter table all ride on this list. A ParamVec is one such flat array: values, gradients,
// Adam's m and v are four of them. Tying two weights is copying a Param.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "math/mat.h"

namespace heed {

struct Param {
  std::size_t offset = 0;
  int rows = 0;
  int cols = 0;
  std::size_t size() const { return static_cast<std::size_t>(rows) * cols; }
};

// How a tensor starts.
struct Initializer {
  enum Kind { zeros, ones, uniform, normal, identity };
  Kind kind = uniform;
  // Half-width of uniform, standard deviation of normal. Uniform of scale 0 takes sqrt(6 / (rows +
  // cols)) (Glorot and Bengio 2010).
  double scale = 0.0;
  bool frozen = false;  // ablations: the optimizer never moves it
};

struct ParamInfo {
  std::string name;  // as in the safetensors file, e.g. "encoder.layers.0.fc1.weight"
  Param param;       // a vector is stored as [1, n] here and as [n] in files
  bool vector;       // one-dimensional: biases and norms; never decayed
  Initializer init;
};

class ParamTable {
 public:
  // A [rows, cols] weight. Tensors added one after the other are adjacent in memory.
  Param add_matrix(const std::string& name, int rows, int cols, Initializer init);
  Param add_vector(const std::string& name, int n, Initializer::Kind kind);

  const std::vector<ParamInfo>& infos() const { return infos_; }
  std::size_t size() const { return size_; }  // numbers in all

 private:
  Param add(ParamInfo info);
  std::vector<ParamInfo> infos_;
  std::size_t size_ = 0;
};

// One flat array for all tensors of a table, 64-byte aligned, zeros at first. Owns its memory.
template <class T>
class ParamVec {
 public:
  ParamVec() = default;
  explicit ParamVec(std::size_t size);
  ~ParamVec();
  ParamVec(ParamVec&& o) noexcept;
  ParamVec& operator=(ParamVec&& o) noexcept;
  ParamVec(const ParamVec&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  Mat<T> operator[](Param p) { return {data_ + p.offset, p.rows, p.cols}; }
  Mat<const T> operator[](Param p) const { return {data_ + p.offset, p.rows, p.cols}; }
  void zero();

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Initial values: a pure function of the table and the seed. Those of one tensor go to `to`.
template <class T>
void initialize(const ParamInfo& info, std::uint64_t seed, T* to);
template <class T>
void initialize(const ParamTable& table, std::uint64_t seed, ParamVec<T>& values);

}  // namespace heed
