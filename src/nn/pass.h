// What goes through a model, and what its layers need for that: the rows of a micro-batch, which
// are sequences packed one after the other, without padding; and a Pass, forward or backward, with
// parameters, gradients, workspace and products. A Pass belongs to one thread; many passes share
// one model and its values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/noise.h"
#include "base/std_names.h"
#include "math/dropout.h"
#include "math/mat.h"
#include "math/products.h"
#include "math/workspace.h"
#include "nn/param.h"

namespace heed {

// One side (source or target) of a micro-batch. Sequence i is rows [begin[i], begin[i + 1]).
struct Packed {
  vector<int> ids;            // [rows] tokens to embed
  vector<int> positions;      // [rows] place in the sequence, from 0
  vector<int> begin{0};       // [sequences + 1]
  vector<uint64_t> row_keys;  // [rows] dropout keys, or empty: no dropout

  int count() const { return int(ids.size()); }
  int sequences() const { return int(begin.size()) - 1; }
  int length(int i) const { return begin[i + 1] - begin[i]; }
  // The rows of sequence i in a matrix of these rows.
  template <class T>
  Mat<T> sequence(Mat<T> x, int i) const {
    return x.row_range(begin[i], begin[i + 1]);
  }
  // Dropout for rows [first, ...) at a layer's dropout_id.
  Dropout dropout(double rate, uint64_t dropout_id, int first = 0) const {
    return {rate, row_keys.empty() ? nullptr : row_keys.data() + first, dropout_id};
  }
  void clear() {
    ids.clear();
    positions.clear();
    begin.assign(1, 0);
    row_keys.clear();
  }
  // Adds a sequence that starts at position `first_position`. `key` identifies the sequence
  // in the run (seed, step, index in the step, side); 0: no dropout.
  void add_sequence(const int* sequence, int n, int first_position = 0, uint64_t key = 0) {
    ids.insert(ids.end(), sequence, sequence + n);
    for (int i = 0; i < n; ++i) positions.push_back(first_position + i);
    if (key != 0)
      for (int i = 0; i < n; ++i) row_keys.push_back(combine(key, uint64_t(first_position + i)));
    begin.push_back(begin.back() + n);
  }
};

// What a model reads and must predict. Labels belong to the rows of the output side: the
// target if there is a decoder, else the source. -1: the row is not scored.
struct Batch {
  Packed source, target;
  vector<int> labels;

  int scored() const {  // rows
    return int(ranges::count_if(labels, [](int label) { return label >= 0; }));
  }
  void clear() {
    source.clear();
    target.clear();
    labels.clear();
  }
  // Adds a sequence to each side whose ids are not empty, and the labels. `key` identifies the
  // example in the run (seed, step, index in the step); 0: no dropout.
  void add(span<const int> source_ids, span<const int> target_ids,
           span<const int> output_labels = {}, uint64_t key = 0) {
    const auto append = [key](Packed& rows, span<const int> ids, uint64_t side) {
      if (ids.empty()) return;
      rows.add_sequence(ids.data(), int(ids.size()), 0, key ? combine(key, side) : 0);
    };
    append(source, source_ids, 0);
    append(target, target_ids, 1);
    labels.insert(labels.end(), output_labels.begin(), output_labels.end());
  }
  void add(const auto& example) { add(example.source, example.target, example.labels); }
};

// What a pass shows of itself, without knowing who looks: its heads, their gradients, and what
// feed-forward networks and layers add to the rows. A pass has one observer or none
// (Pass::observer); without one nothing is computed for it.
//
// In forward an observer may change what it sees before the next layer reads it. That is how a part
// of a model is taken away, and how a score is moved to check a gradient. Decoding with a cache is
// not observed.
enum class AttentionKind;
struct Attention;
template <class T>
class Observer {
 public:
  virtual ~Observer() = default;

  // Forward: head `number` of an attention has computed its O, of one sequence.
  virtual void on_head(const Attention&, int /*number*/, const AttentionHead<T>&) {}
  // Backward: the gradient of O.
  virtual void on_head_gradient(const Attention&, int /*number*/, const AttentionHead<T>&,
                                Mat<const T> /*gradient*/) {}
  // y [rows, d_model] is what the feed-forward network of this layer gives. `stack` is the kind of
  // its self-attention.
  virtual void on_feed_forward(AttentionKind /*stack*/, int /*layer*/, Mat<T> /*y*/) {}
  // A layer has read x and gives y.
  virtual void on_layer(AttentionKind /*stack*/, int /*layer*/, Mat<const T> /*x*/, Mat<T> /*y*/) {}
};

template <class T>
struct Pass {
  const ParamVec<T>& values;
  Workspace& workspace;
  ParamVec<T>* gradients = nullptr;  // needed by backward
  bool forward_only = false;         // no backward will follow: all blocks reuse the same memory
  const Products<T>* products = &blas_products<T>();
  Observer<T>* observer = nullptr;  // sees heads, feed-forward networks and layers, if set

  Mat<const T> operator[](Param p) const { return values[p]; }
  Mat<T> gradient(Param p) const { return (*gradients)[p]; }
  // A [rows, cols] matrix from the workspace, uninitialised or zero.
  Mat<T> matrix(int rows, int cols) const { return workspace.template matrix<T>(rows, cols); }
  Mat<T> zeros(int rows, int cols) const { return workspace.template zeros<T>(rows, cols); }
};

}  // namespace heed
