#include "nn/packed.h"

#include <algorithm>

#include "base/noise.h"
#include "base/std_names.h"

namespace heed {

void Packed::clear() {
  ids.clear();
  positions.clear();
  begin.assign(1, 0);
  row_keys.clear();
}

void Packed::add_sequence(const int* sequence, int n, int first_position, uint64_t key) {
  ids.insert(ids.end(), sequence, sequence + n);
  for (int i = 0; i < n; ++i) positions.push_back(first_position + i);
  if (key != 0)
    for (int i = 0; i < n; ++i) row_keys.push_back(combine(key, uint64_t(first_position + i)));
  begin.push_back(begin.back() + n);
}

int Batch::scored() const {
  return int(std::ranges::count_if(labels, [](int label) { return label >= 0; }));
}

void Batch::clear() {
  source.clear();
  target.clear();
  labels.clear();
}

void Batch::add(span<const int> source_ids, span<const int> target_ids,
                span<const int> output_labels, uint64_t key) {
  const auto append = [key](Packed& rows, span<const int> ids, uint64_t side) {
    if (ids.empty()) return;
    rows.add_sequence(ids.data(), int(ids.size()), 0, key ? combine(key, side) : 0);
  };
  append(source, source_ids, 0);
  append(target, target_ids, 1);
  labels.insert(labels.end(), output_labels.begin(), output_labels.end());
}

}  // namespace heed
