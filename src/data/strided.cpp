#include "data/strided.h"

#include <algorithm>

namespace heed {

std::int64_t StridedText::count() const {
  const auto n = static_cast<std::int64_t>(split.target.size());
  if (n == 0) return 0;
  return n <= length ? 1 : 1 + (n - length + stride - 1) / stride;
}

void StridedText::make(std::int64_t index, Example& out) const {
  const std::size_t n = split.target.size();
  const auto begin = static_cast<std::size_t>(index) * stride;
  const std::size_t end = std::min(n, begin + length);
  const std::size_t first = index == 0 ? 0 : begin + length - stride;  // not scored before
  out.source.clear();
  out.target.clear();
  out.labels.assign(first - begin, -1);
  if (begin == 0) out.target.push_back(Tokenizer::kBos);
  split.target.copy(begin == 0 ? 0 : begin - 1, end - 1, out.target);
  split.target.copy(first, end, out.labels);
}

}  // namespace heed
