#include "decode/next_token.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "base/std_names.h"
#include "math/lanes.h"
#include "math/softmax.h"

namespace heed {
namespace {

constexpr float kNever = -INFINITY;

// Top-k, top-p and min-p of probabilities: each sees what the one before left.
void keep_best(span<float> row, const SamplingRules& rules) {
  const int n = int(row.size());
  // Without a top-k, tokens that no rule can keep are dropped before sorting: those below
  // (1 - top_p) / n sum to less than 1 - top_p, so the others reach top_p. With a top-k all tokens
  // count, since top-p is relative to its sum.
  const double least = rules.top_k > 0 ? 0.0
                                       : max(0.5 * (1.0 - rules.top_p) / n,
                                             0.5 * rules.min_p * largest(row.data(), n));
  vector<int> ids;  // that are kept, most probable first
  for (int id = 0; id < n; ++id)
    if (row[id] > 0 && row[id] >= least) ids.push_back(id);
  const auto most = min(ids.size(), size_t(rules.top_k > 0 ? rules.top_k : n));
  const auto more_probable = [&](int a, int b) {
    return row[a] != row[b] ? row[a] > row[b] : a < b;
  };
  std::nth_element(ids.begin(), ids.begin() + most, ids.end(), more_probable);
  ids.resize(most);
  ranges::sort(ids, more_probable);
  const auto sum_of_kept = [&] {
    double sum = 0;
    for (const int id : ids) sum += row[id];
    return sum;
  };
  if (rules.top_p < 1.0) {
    const double all = rules.top_k > 0 ? sum_of_kept() : accumulate(row.begin(), row.end(), 0.0);
    size_t kept = 0;
    for (double sum = 0; kept < ids.size() && sum < rules.top_p * all;) sum += row[ids[kept++]];
    ids.resize(max<size_t>(kept, 1));
  }
  const double of_first = row[ids.front()];
  while (row[ids.back()] < rules.min_p * of_first) ids.pop_back();
  const double sum = sum_of_kept();
  vector<float> kept(row.size());
  for (const int id : ids) kept[id] = float(row[id] / sum);
  ranges::copy(kept, row.begin());
}

}  // namespace

ScoredToken scored_token(span<const float> logits, int id) {
  return {id, -cross_entropy(logits.data(), int(logits.size()), id, 0.0).nll};
}

vector<ScoredToken> best_tokens(span<const float> logits, int n, span<const int> banned) {
  if (n <= 0) return {};
  vector<int> best;      // ids, best first
  float least = kNever;  // what more must have
  for (int id = 0; id < ssize(logits); ++id) {
    if (logits[id] <= least || ranges::count(banned, id) > 0) continue;
    best.insert(
        ranges::upper_bound(best, logits[id], greater{}, [&](int other) { return logits[other]; }),
        id);
    if (ssize(best) > n) best.pop_back();
    if (ssize(best) == n) least = logits[best.back()];
  }
  vector<ScoredToken> result;
  if (best.empty()) return result;
  const ScoredToken first = scored_token(logits, best.front());
  for (const int id : best)
    result.push_back({id, first.log_probability + (double(logits[id]) - double(logits[first.id]))});
  return result;
}

// With l = logits - max and Z = sum exp l:  H = log Z - sum l exp l / Z
TokenOdds token_odds(span<const float> logits, int id, int n) {
  const double top = largest(logits.data(), int(logits.size()));
  double z = 0, sum = 0;
  TokenOdds odds{id, scored_token(logits, id).log_probability, 1, 0, best_tokens(logits, n, {})};
  for (const float logit : logits) {
    const double l = logit - top, e = exp(l);
    z += e;
    sum += l * e;
    odds.rank += logit > logits[id];
  }
  odds.entropy = max(0.0, std::log(z) - sum / z);
  return odds;
}

AllowedNext allowed_next(const WritingRules& rules, span<const int> text, size_t written,
                         span<const int> never, int end) {
  if (written < rules.beginning.size()) return {rules.beginning[written], {}};
  AllowedNext next{{}, {never.begin(), never.end()}};
  if (written == rules.beginning.size())
    next.banned.insert(next.banned.end(), rules.not_next.begin(), rules.not_next.end());
  if (std::cmp_less(written, rules.min_tokens)) next.banned.push_back(end);
  const size_t n = rules.no_repeat;
  if (n == 0 || text.size() < n) return next;
  const auto last = text.last(n - 1);
  for (size_t i = 0; i + n <= text.size(); ++i)
    if (ranges::equal(text.subspan(i, n - 1), last)) next.banned.push_back(text[i + n - 1]);
  return next;
}

void apply_rules(span<float> row, const SamplingRules& rules, span<const int> text,
                 span<const int> banned) {
  const int n = int(row.size());
  if (rules.repetition_penalty != 1.0) {
    const float penalty = float(rules.repetition_penalty);
    constexpr float kLargest = numeric_limits<float>::max();
    for (const int id : set<int>(text.begin(), text.end()))
      row[id] = clamp(row[id] > 0 ? row[id] / penalty : row[id] * penalty, -kLargest / 2, kLargest);
  }
  for (const int id : banned) row[id] = kNever;
  const float top = largest(row.data(), n);
  if (!rules.draws() || top == kNever) {
    const auto first = top == kNever ? Tokenizer::kEos : ranges::find(row, top) - row.begin();
    ranges::fill(row, 0.0f);
    row[first] = 1.0f;
    return;
  }
  if (rules.temperature != 1.0)
    for (float& x : row) x = float((x - top) / rules.temperature);
  softmax(row.data(), n, n);
  for (const int id : banned) row[id] = 0.0f;
  if (rules.top_k > 0 || rules.top_p < 1.0 || rules.min_p > 0.0) keep_best(row, rules);
}

int draw(span<const float> probabilities, double u) {
  const double place = u * accumulate(probabilities.begin(), probabilities.end(), 0.0);
  int last = -1;
  double before = 0;
  for (int id = 0; before <= place && id < ssize(probabilities); ++id)
    if (probabilities[id] > 0) before += probabilities[last = id];
  assert(last >= 0);
  return last;
}

}  // namespace heed
