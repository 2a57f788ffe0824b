// Counts n-grams for BLEU and chrF: those of a hypothesis, of its reference, and the matches.
// An n-gram matches at most as often as it occurs on both sides (clipped counts).
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/error.h"

namespace heed {

struct NgramCounts {
  std::int64_t hypothesis = 0, reference = 0, matches = 0;
};

// Error (data) unless every hypothesis has a reference and there is at least one.
inline void require_references(const char* metric, std::size_t hypotheses, std::size_t references) {
  if (hypotheses != references || hypotheses == 0)
    throw Error(Exit::data,
                fmt::format("{} needs one reference per hypothesis and at least one: found {} "
                            "hypotheses and {} references.",
                            metric, hypotheses, references));
}

// All n-grams of `symbols`, sorted; n <= Max, unused places are zero.
template <int Max, class T>
std::vector<std::array<T, Max>> sorted_ngrams(const std::vector<T>& symbols, int n) {
  std::vector<std::array<T, Max>> ngrams;
  for (std::size_t i = 0; i + n <= symbols.size(); ++i) {
    std::array<T, Max> ngram{};
    std::copy_n(symbols.begin() + i, n, ngram.begin());
    ngrams.push_back(ngram);
  }
  std::sort(ngrams.begin(), ngrams.end());
  return ngrams;
}

// The intersection of two sorted lists holds each n-gram as often as the list with fewer of it.
template <int Max, class T>
NgramCounts count_ngrams(const std::vector<T>& hypothesis, const std::vector<T>& reference, int n) {
  const auto h = sorted_ngrams<Max>(hypothesis, n);
  const auto r = sorted_ngrams<Max>(reference, n);
  std::vector<std::array<T, Max>> both;
  std::set_intersection(h.begin(), h.end(), r.begin(), r.end(), std::back_inserter(both));
  return {static_cast<std::int64_t>(h.size()), static_cast<std::int64_t>(r.size()),
          static_cast<std::int64_t>(both.size())};
}

}  // namespace heed
