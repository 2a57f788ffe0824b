#include "decode/logits_rules.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace heed {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

void normalize(std::vector<Candidate>& candidates) {
  double sum = 0;
  for (const Candidate& c : candidates) sum += c.probability;
  for (Candidate& c : candidates) c.probability /= sum;
}

bool more_probable(const Candidate& a, const Candidate& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.id < b.id;
}

// `candidates` is sorted. Every rule sees what the one before it left.
void cut(std::vector<Candidate>& candidates, const LogitsRules& rules) {
  if (rules.top_k > 0 && candidates.size() > static_cast<std::size_t>(rules.top_k))
    candidates.resize(rules.top_k);
  normalize(candidates);
  if (rules.top_p < 1.0) {
    double sum = 0;
    std::size_t n = 0;
    while (n < candidates.size() && sum < rules.top_p) sum += candidates[n++].probability;
    candidates.resize(std::max<std::size_t>(n, 1));
  }
  const double least = rules.min_p * candidates.front().probability;
  while (candidates.back().probability < least) candidates.pop_back();
  normalize(candidates);
}

}  // namespace

std::vector<Candidate> apply_rules(std::span<float> logits, const LogitsRules& rules,
                                   const std::vector<bool>& occurred, std::span<const int> banned) {
  if (rules.repetition_penalty != 1.0 && !occurred.empty()) {
    const float penalty = static_cast<float>(rules.repetition_penalty);
    for (std::size_t id = 0; id < logits.size(); ++id)
      if (occurred[id]) logits[id] = logits[id] > 0 ? logits[id] / penalty : logits[id] * penalty;
  }
  for (const int id : banned) logits[id] = kNever;
  const auto first = std::max_element(logits.begin(), logits.end());
  if (rules.temperature == 0.0) return {{static_cast<int>(first - logits.begin()), 1.0}};

  std::vector<Candidate> candidates;
  candidates.reserve(logits.size());
  const double largest = *first;
  for (std::size_t id = 0; id < logits.size(); ++id)
    if (logits[id] != kNever)
      candidates.push_back(
          {static_cast<int>(id), std::exp((logits[id] - largest) / rules.temperature)});
  if (rules.top_k > 0 || rules.top_p < 1.0 || rules.min_p > 0.0) {
    std::sort(candidates.begin(), candidates.end(), more_probable);
    cut(candidates, rules);
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
  } else {
    normalize(candidates);
  }
  return candidates;
}

int draw(std::span<const Candidate> candidates, double u) {
  assert(!candidates.empty());
  double sum = 0;
  for (const Candidate& c : candidates) {
    sum += c.probability;
    if (u < sum) return c.id;
  }
  return candidates.back().id;  // rounding
}

}  // namespace heed
