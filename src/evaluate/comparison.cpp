#include "evaluate/comparison.h"

#include <algorithm>
#include <numbers>
#include <valarray>

#include "base/noise.h"
#include "base/std_names.h"

namespace heed {
namespace {

constexpr int kResamples = 1'000, kShuffles = 10'000;
using Numbers = std::valarray<double>;
// How often each of n units counts in draw r.
using Draw = Numbers (*)(size_t n, int r);

Numbers resample(size_t n, int r) {
  Numbers times(n);
  const uint64_t key = combine(hash64(2004), r);
  for (size_t i = 0; i < n; ++i) ++times[size_t(uniform01(key, i) * double(n))];
  return times;
}

// Of two systems, one after the other: of each unit the row that a coin says, or if r is odd the
// other one.
Numbers toss(size_t n, int r) {
  Numbers times(n);
  const uint64_t key = combine(hash64(1995), r / 2);
  for (size_t i = 0; i < n / 2; ++i) {
    times[i] = (combine(key, i) >> 63) == (r & 1U);
    times[n / 2 + i] = 1 - times[i];
  }
  return times;
}

// The mean of a group in each draw.
Numbers means(span<const System> group, const Figure& figure, Pool& pool, int draws, Draw draw) {
  Numbers figures(draws);
  pool.run(draws, [&](int r, int) {
    const Numbers times = draw(group.front().size(), r);
    for (const System& system : group) {
      Sums sums(figure.end);
      for (size_t i = 0; i < system.size(); ++i)
        for (size_t k = figure.begin; times[i] != 0 && k < figure.end; ++k)
          sums[k] += times[i] * system[i][k];
      figures[r] += figure.of(sums) / double(group.size());
    }
  });
  return figures;
}

double mean_of(const Numbers& x) {
  return x.sum() / double(x.size());
}

double variance_of(const Numbers& x) {  // of a sample
  const Numbers apart = x - mean_of(x);
  return (apart * apart).sum() / double(x.size() - 1);
}

ConfidenceInterval without_tails(Numbers x, double tail = 0.025) {
  std::sort(begin(x), end(x));
  const double rank = max(1.0, std::round(tail * double(x.size() + 1)));
  const auto out = size_t(rank);
  return {x[out - 1], x[x.size() - out]};
}

// How often chance alone made a difference as large, but for rounding.
double p_value(const Numbers& by_chance, double difference) {
  if (difference == 0) return 1;
  const auto as_large = std::count_if(begin(by_chance), end(by_chance),
                                      [&](double x) { return x >= abs(difference) * (1 - 1e-9); });
  return double(as_large + 1) / double(by_chance.size() + 1);
}

void compare_groups(Difference& d, const Numbers& first, const Numbers& second,
                    const Numbers& by_units) {
  const auto part = [](const Numbers& group, const Numbers& other) {
    return variance_of(group.size() > 1 ? group : other) / double(group.size());
  };
  const double error = sqrt(part(first, second) + part(second, first) + variance_of(by_units));
  const size_t degrees = first.size() + second.size() - 2;
  const double half = student_quantile(0.05, degrees) * error;
  d.interval = {d.value - half, d.value + half};
  d.p_seeds = d.value == 0 ? 1 : student_tail(abs(d.value) / error, degrees);
}

}  // namespace

Difference difference(span<const System> first, span<const System> second, const Figure& figure,
                      Pool& pool) {
  const auto each = [&](span<const System> group) {
    Numbers figures(group.size());
    for (size_t i = 0; i < group.size(); ++i) {
      Sums sums;
      for (const Sums& row : group[i]) sums += row;
      figures[i] = figure.of(sums);
    }
    return figures;
  };
  const size_t units = first.front().size();
  const Numbers of_first = each(first), of_second = each(second);
  Difference d{{begin(of_first), end(of_first)},
               {begin(of_second), end(of_second)},
               mean_of(of_first),
               mean_of(of_second),
               mean_of(of_second) - mean_of(of_first)};
  if (units < kFewestUnits) return d;
  const Numbers a = means(first, figure, pool, kResamples, resample),
                b = means(second, figure, pool, kResamples, resample);
  d.first_interval = without_tails(a);
  d.second_interval = without_tails(b);
  if (first.size() + second.size() > 2) {
    compare_groups(d, of_first, of_second, b - a);
    return d;
  }
  const double n = double(units), t = student_quantile(0.05, units - 1) * sqrt(n / (n - 1));
  d.interval = without_tails(b - a, std::erfc(t / std::numbers::sqrt2) / 2);
  const Numbers sizes = abs(b - a);
  d.p_bootstrap = p_value(sizes - mean_of(sizes), d.value);
  const System both = appended(first.front(), second.front());
  const Numbers tossed = means({&both, 1}, figure, pool, 2 * kShuffles, toss);
  const auto side = [&](int odd) { return Numbers(tossed[std::slice(odd, kShuffles, 2)]); };
  d.p_randomization = p_value(abs(side(0) - side(1)), d.value);
  return d;
}

ConfidenceInterval interval_of(const System& system, const Figure& figure, Pool& pool) {
  if (system.size() < kFewestUnits) return {};
  return without_tails(means({&system, 1}, figure, pool, kResamples, resample));
}

double student_tail(double t, size_t degrees) {
  const double n = double(degrees), angle = std::atan(t / sqrt(n));
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = degrees == 1 ? 0 : term;
  for (double k = odd ? 3 : 2; k < n; k += 2) sum += term *= cosine * cosine * (k - 1) / k;
  const double inside = std::sin(angle) * sum;
  return max(0.0, 1 - (odd ? (angle + inside) * 2 / std::numbers::pi : inside));
}

double student_quantile(double tail, size_t degrees) {
  double low = 0, high = 1;
  while (student_tail(high, degrees) > tail) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double half = (low + high) / 2;
    (student_tail(half, degrees) > tail ? low : high) = half;
  }
  return high;
}

}  // namespace heed
