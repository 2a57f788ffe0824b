// Is one model better than another, or was it luck? Pure functions of what was measured.
//
// A system is what a model does on units: pairs of lines, lines, or blocks of text. It has a row of
// sums for each unit; a figure is one of the sum of some rows. Groups of systems, trained
// with one setting and several seeds, are compared by the means of their figures.
//
//   two models   The interval holds 95 % of the differences of 1,000 paired bootstrap resamples of
//                the units (Koehn 2004), with the wider tails that n units ask for (expanded
//                percentiles: Hesterberg 2015, The American Statistician 69, section 5.2). The
//                intervals of each (percentiles, without these tails) and p of paired bootstrap
//                (1,000) and of approximate randomization (10,000) are as sacreBLEU's:
//                (c + 1) / (R + 1), c times a difference by chance alone is larger. So p is too
//                low where few units differ: then chance often makes one just as large. Where
//                there is no difference at all, p is 1.
//   two groups   d ± t √(s₁²/n₁ + s₂²/n₂ + u): s² the variance of a group's figures, u that of the
//                difference over the resamples, t Student's with n₁ + n₂ - 2 degrees of freedom.
//                A group of one has no s²: it is taken to have the other's.
//
// Draws are functions of fixed keys: the same systems give the same result, by any threads.
#pragma once

#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "base/pool.h"
#include "base/std_names.h"
#include "evaluate/figures.h"

namespace heed {

using System = vector<Sums>;  // all have the same units

// Copies are one unit, which is drawn with all of them: the sums of rows with equal keys.
template <class Key>
System merged(const System& rows, const vector<Key>& keys) {
  System units;
  map<Key, size_t> places;
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t place = places.emplace(keys[i], units.size()).first->second;
    units.resize(places.size());
    units[place] += rows[i];
  }
  return units;
}

// Fewer tell nothing: all would favour one of two equals with a probability of more than 1 %.
inline constexpr size_t kFewestUnits = 8;

inline constexpr double kUnknown = NAN;

struct ConfidenceInterval {  // 95 %; unknown of too few units
  double low = kUnknown, high = kUnknown;
};

struct Difference {
  vector<double> of_first, of_second;                            // the figure of each system
  double first, second, value;                                   // their means, and second - first
  ConfidenceInterval first_interval = {}, second_interval = {};  // of the means, over units alone
  ConfidenceInterval interval = {};
  double p_bootstrap = kUnknown, p_randomization = kUnknown;  // of two models
  double p_seeds = kUnknown;                                  // of groups

  // (Where few units differ, all on one side, the interval alone would be too sure.)
  bool shown() const {
    return (interval.low > 0 || interval.high < 0) && !(p_randomization > 0.05);
  }
};

Difference difference(span<const System> first, span<const System> second, const Figure& figure,
                      Pool& pool);

// Of one system's figure.
ConfidenceInterval interval_of(const System& system, const Figure& figure, Pool& pool);

// Student's t (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4): P(|T| > t), t >= 0, and the t for
// which it is `tail`; 95 % are between -t and t for 0.05.
double student_tail(double t, size_t degrees);
double student_quantile(double tail, size_t degrees);

}  // namespace heed
