// The rows of a micro-batch: sequences packed one after the other, without padding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/std_names.h"
#include "math/dropout.h"

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
  void clear();
  // Adds a sequence that starts at position `first_position`. `key` identifies the sequence
  // in the run (seed, step, index in the step, side); 0: no dropout.
  void add_sequence(const int* ids, int n, int first_position = 0, uint64_t key = 0);
};

// What a model reads and must predict. Labels belong to the rows of the output side: the
// target if there is a decoder, else the source. -1: the row is not scored.
struct Batch {
  Packed source, target;
  vector<int> labels;

  int scored() const;  // rows
  void clear();
  // Adds a sequence to each side whose ids are not empty, and the labels. `key` identifies the
  // example in the run (seed, step, index in the step); 0: no dropout.
  void add(span<const int> source_ids, span<const int> target_ids,
           span<const int> output_labels = {}, uint64_t key = 0);
};

}  // namespace heed
