#include "decode/best_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/softmax.h"

namespace heed {

ScoredToken scored_token(std::span<const float> logits, int id) {
  return {id, -cross_entropy(logits.data(), static_cast<int>(logits.size()), id, 0.0).nll};
}

std::vector<ScoredToken> best_tokens(std::span<const float> logits, int n,
                                     std::span<const int> banned) {
  constexpr int kInserted = 64;  // the most for which inserting each is faster than sorting all
  constexpr std::size_t kBlock = 32;  // skipped unless its largest logit is among the best
  std::vector<int> best;              // ids, best first
  if (n <= 0) return {};
  const auto is_banned = [&](int id) { return std::ranges::count(banned, id) > 0; };
  if (n > kInserted) {
    for (int id = 0; id < std::ssize(logits); ++id)
      if (logits[id] > -std::numeric_limits<float>::infinity() && !is_banned(id))
        best.push_back(id);
    std::ranges::stable_sort(best, [&](int a, int b) { return logits[a] > logits[b]; });
    best.resize(std::min(best.size(), static_cast<std::size_t>(n)));
  }
  float least = -std::numeric_limits<float>::infinity();
  for (std::size_t begin = 0; n <= kInserted && begin < logits.size(); begin += kBlock) {
    const std::size_t end = std::min(logits.size(), begin + kBlock);
    float largest = logits[begin];
#pragma omp simd reduction(max : largest)
    for (std::size_t i = begin; i < end; ++i) largest = largest < logits[i] ? logits[i] : largest;
    if (!(largest > least)) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (!(logits[i] > least)) continue;
      const int id = static_cast<int>(i);
      if (is_banned(id)) continue;
      const auto at = std::find_if(best.begin(), best.end(),
                                   [&](int other) { return logits[other] < logits[i]; });
      best.insert(at, id);
      if (best.size() > static_cast<std::size_t>(n)) best.pop_back();
      if (best.size() == static_cast<std::size_t>(n)) least = logits[best.back()];
    }
  }
  std::vector<ScoredToken> result;
  if (best.empty()) return result;
  const ScoredToken first = scored_token(logits, best.front());
  for (const int id : best)
    result.push_back({id, first.log_probability + (static_cast<double>(logits[id]) -
                                                   static_cast<double>(logits[first.id]))});
  return result;
}

// With l = logits - max and Z = sum exp l:  H = log Z - sum l exp l / Z
TokenOdds token_odds(std::span<const float> logits, int id, int n) {
  const double top = largest(logits.data(), static_cast<int>(logits.size()));
  double z = 0, sum = 0;
  TokenOdds odds{id, scored_token(logits, id).log_probability, 1, 0, best_tokens(logits, n, {})};
  for (const float logit : logits) {
    const double l = logit - top, e = std::exp(l);
    z += e;
    sum += l * e;
    odds.rank += logit > logits[id];
  }
  odds.entropy = std::max(0.0, std::log(z) - sum / z);
  return odds;
}

}  // namespace heed
