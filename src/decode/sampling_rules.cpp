#include "decode/sampling_rules.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <utility>

#include "math/lanes.h"
#include "math/softmax.h"

namespace heed {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

struct Candidate {
  int id;
  double probability;
};

// Most probable first. Without a top-k, tokens that no rule can keep are dropped before sorting:
// the tokens below (1 - top_p) / vocab sum to less than 1 - top_p, so the others reach top_p. With
// a top-k all tokens count, since top-p is relative to its sum.
std::vector<Candidate> candidates_of(std::span<const float> row, const SamplingRules& rules) {
  const int n = static_cast<int>(row.size());
  const double least = rules.top_k > 0 ? 0.0
                                       : std::max(0.5 * (1.0 - rules.top_p) / n,
                                                  0.5 * rules.min_p * largest(row.data(), n));
  std::vector<Candidate> found;
  for (int id = 0; id < n; ++id)
    if (row[id] > 0 && row[id] >= least) found.push_back({id, row[id]});
  const auto more_probable = [](const Candidate& a, const Candidate& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.id < b.id;
  };
  if (rules.top_k > 0 && found.size() > static_cast<std::size_t>(rules.top_k)) {
    std::nth_element(found.begin(), found.begin() + rules.top_k, found.end(), more_probable);
    found.resize(rules.top_k);
  }
  std::sort(found.begin(), found.end(), more_probable);
  return found;
}

double sum_of(const std::vector<Candidate>& candidates) {
  double sum = 0;
  for (const Candidate& c : candidates) sum += c.probability;
  return sum;
}

// Keeps the smallest set of tokens that reaches `top_p` of `total`.
void keep_top_p(std::vector<Candidate>& candidates, double top_p, double total) {
  if (top_p == 1.0) return;
  const double enough = top_p * total;
  double sum = 0;
  std::size_t n = 0;
  while (n < candidates.size() && sum < enough) sum += candidates[n++].probability;
  candidates.resize(std::max<std::size_t>(n, 1));
}

// Keeps tokens with at least `min_p` times the probability of the first.
void keep_min_p(std::vector<Candidate>& candidates, double min_p) {
  const double least = min_p * candidates.front().probability;
  while (candidates.back().probability < least) candidates.pop_back();
}

}  // namespace

AllowedNext allowed_next(const WritingRules& rules, std::span<const int> text, std::size_t written,
                         std::span<const int> never, int end) {
  if (written < rules.beginning.size()) return {rules.beginning[written], {}};
  AllowedNext next{{}, {never.begin(), never.end()}};
  if (written == rules.beginning.size())
    next.banned.insert(next.banned.end(), rules.not_next.begin(), rules.not_next.end());
  if (std::cmp_less(written, rules.min_tokens)) next.banned.push_back(end);
  const auto n = static_cast<std::size_t>(rules.no_repeat);
  if (n == 0 || text.size() < n) return next;
  const auto last = text.last(n - 1);
  for (std::size_t i = 0; i + n <= text.size(); ++i)
    if (std::ranges::equal(text.subspan(i, n - 1), last)) next.banned.push_back(text[i + n - 1]);
  return next;
}

void apply_rules(std::span<float> row, const SamplingRules& rules,
                 const std::vector<bool>& occurred, std::span<const int> banned) {
  const int n = static_cast<int>(row.size());
  if (rules.repetition_penalty != 1.0 && !occurred.empty()) {
    const float penalty = static_cast<float>(rules.repetition_penalty);
    constexpr float kLargest = std::numeric_limits<float>::max();
    for (int id = 0; id < n; ++id)
      if (occurred[id])
        row[id] = std::clamp(row[id] > 0 ? row[id] / penalty : row[id] * penalty, -kLargest / 2,
                             kLargest);
  }
  for (const int id : banned) row[id] = kNever;
  const float top = largest(row.data(), n);
  if (!rules.draws() || top == kNever) {
    const auto first =
        top == kNever ? Tokenizer::kEos : std::find(row.begin(), row.end(), top) - row.begin();
    std::fill(row.begin(), row.end(), 0.0f);
    row[first] = 1.0f;
    return;
  }
  if (rules.temperature != 1.0)
    for (float& x : row) x = static_cast<float>((x - top) / rules.temperature);
  softmax(row.data(), n, n);
  for (const int id : banned) row[id] = 0.0f;
  if (rules.top_k == 0 && rules.top_p == 1.0 && rules.min_p == 0.0) return;
  std::vector<Candidate> kept = candidates_of(row, rules);
  // Each rule applies to the result of the one before: top-p to the whole row, or to its top-k.
  const double total =
      rules.top_k > 0 ? sum_of(kept) : std::accumulate(row.begin(), row.end(), 0.0);
  keep_top_p(kept, rules.top_p, total);
  keep_min_p(kept, rules.min_p);
  const double sum = sum_of(kept);
  std::fill(row.begin(), row.end(), 0.0f);
  for (const Candidate& c : kept) row[c.id] = static_cast<float>(c.probability / sum);
}

int draw(std::span<const float> probabilities, double u) {
  // Finds the block first, then the token in it: rows of large vocabularies are long.
  constexpr std::size_t kBlock = 64;
  const std::size_t n = probabilities.size();
  const auto block_sum = [&](std::size_t begin) {
    const std::size_t end = std::min(n, begin + kBlock);
    return static_cast<double>(
        sum_row(probabilities.data() + begin, static_cast<int>(end - begin)));
  };
  double total = 0;
  for (std::size_t begin = 0; begin < n; begin += kBlock) total += block_sum(begin);
  const double place = u * total;

  std::size_t block = 0;  // the block of `place`; after rounding errors, the last nonzero block
  double before = 0, sum_before = 0;
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const double sum = block_sum(begin);
    if (sum > 0) {
      block = begin;
      before = sum_before;
      if (sum_before + sum > place) break;
    }
    sum_before += sum;
  }
  int last = -1;
  for (std::size_t i = block; i < std::min(n, block + kBlock); ++i) {
    if (probabilities[i] == 0) continue;
    last = static_cast<int>(i);
    if ((before += probabilities[i]) > place) break;
  }
  assert(last >= 0);
  return last;
}

}  // namespace heed
