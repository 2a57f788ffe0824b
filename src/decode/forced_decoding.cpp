#include "decode/forced_decoding.h"

#include <algorithm>
#include <cassert>

#include "decode/best_tokens.h"
#include "decode/incremental_decoder.h"
#include "text/tokenizer.h"

namespace heed {
namespace {

constexpr int kMostTargets = 64;  // at a time

}  // namespace

std::vector<double> target_log_probs(const Transformer& model, const ParamVec<float>& values,
                                     Pool& pool, std::span<const std::vector<int>> sources,
                                     std::span<const std::vector<int>> targets) {
  assert(sources.size() == targets.size());
  std::vector<double> result(targets.size(), 0.0);
  std::size_t longest = 0;
  for (const auto& t : targets) longest = std::max(longest, t.size() + 1);
  const auto group = static_cast<std::size_t>(
      slots_at_a_time(model.config, static_cast<double>(longest), kMostTargets));
  for (std::size_t begin = 0; begin < targets.size(); begin += group) {
    const std::size_t n = std::min(group, targets.size() - begin);
    IncrementalDecoder decoder(model, values, pool, static_cast<int>(n), static_cast<int>(longest));
    decoder.read_sources(sources.subspan(begin, n));
    for (int i = 0; i < static_cast<int>(n); ++i) decoder.restart(i, i);
    for (std::size_t position = 0;; ++position) {
      std::vector<IncrementalDecoder::Tokens> tokens;
      for (std::size_t i = 0; i < n; ++i) {
        const std::vector<int>& target = targets[begin + i];
        if (position > target.size()) continue;
        const int& read = position == 0 ? Tokenizer::kBos : target[position - 1];
        tokens.push_back({static_cast<int>(i), {&read, 1}});
      }
      if (tokens.empty()) break;
      const Mat<float> logits = decoder.step(tokens);
      for (int r = 0; r < logits.rows; ++r) {
        const std::size_t i = begin + tokens[r].slot;
        const int label = position < targets[i].size() ? targets[i][position] : Tokenizer::kEos;
        const std::span<const float> row(logits.row(r), static_cast<std::size_t>(logits.cols));
        result[i] += scored_token(row, label).log_probability;
      }
    }
  }
  return result;
}

}  // namespace heed
