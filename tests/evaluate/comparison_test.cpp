#include "evaluate/comparison.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/noise.h"

namespace heed {
namespace {

const Figure& loss_metric() {
  return figure("loss");
}

// Units with `tokens` tokens and these nats.
System system_of(const std::vector<double>& nats, double tokens = 10) {
  System system;
  for (const double x : nats) system.push_back({x, tokens, 0, tokens, 0});
  return system;
}

double normal(std::uint64_t key, std::uint64_t i) {  // Box and Muller 1958
  return std::sqrt(-2 * std::log(1 - uniform01(key, 2 * i))) *
         std::cos(6.283185307179586 * uniform01(key, 2 * i + 1));
}

std::vector<double> normals(std::uint64_t key, std::size_t n, double mean, double deviation) {
  std::vector<double> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(mean + deviation * normal(key, i));
  return x;
}

Difference difference_of(const System& a, const System& b) {
  Pool pool(1);
  return difference({&a, 1}, {&b, 1}, loss_metric(), pool);
}

// R: qt(0.975, df), 2 * pt(-t, df)
TEST(Comparison, StudentsT) {
  const std::pair<std::size_t, double> quantiles[] = {
      {1, 12.70620473617471},  {2, 4.302652729749464},   {3, 3.182446305284263},
      {4, 2.776445105197793},  {5, 2.570581835636314},   {10, 2.228138851986274},
      {30, 2.042272456301238}, {199, 1.971956544249396}, {1000, 1.962339080826408}};
  for (const auto& [degrees, t] : quantiles) {
    EXPECT_NEAR(student_quantile(0.05, degrees), t, 1e-9 * t) << degrees;
    EXPECT_NEAR(student_tail(t, degrees), 0.05, 1e-12) << degrees;
  }
  EXPECT_NEAR(student_tail(1, 1), 0.5, 1e-15);
  EXPECT_NEAR(student_tail(1, 2), 0.4226497308103743, 1e-14);  // 1 - 1 / √3
  EXPECT_EQ(student_tail(0, 7), 1);
}

// All 2^10 ways to swap, one by one.
TEST(Comparison, RandomizationAgreesWithAllSwaps) {
  const std::vector<double> a = normals(1, 10, 20, 3), b = normals(2, 10, 21.5, 3);
  const Difference d = difference_of(system_of(a), system_of(b));
  int larger = 0;
  for (int swaps = 0; swaps < 1024; ++swaps) {
    double sum = 0;
    for (int i = 0; i < 10; ++i) sum += (b[i] - a[i]) * ((swaps >> i & 1) ? 1 : -1);
    larger += std::abs(sum / 100) > std::abs(d.value) + 1e-12;
  }
  const double p = larger / 1024.0;
  EXPECT_NEAR(d.p_randomization, p, 4 * std::sqrt(p * (1 - p) / 10'000) + 1e-4);
}

// McNemar's exact test: as large a difference is that of all five on one side.
TEST(Comparison, TiesCountWhereFewUnitsDiffer) {
  const std::vector<double> a(200, 1.0);
  std::vector<double> b = a;
  b[7] = b[70] = b[71] = b[170] = b[190] = 0;
  const Difference d = difference_of(system_of(a), system_of(b));
  EXPECT_NEAR(d.p_randomization, 0.0625, 0.01);
  EXPECT_LT(d.interval.high, 0);
  EXPECT_FALSE(d.shown());
}

// By the normal distribution: of many units with as many tokens each.
TEST(Comparison, IntervalsAreThoseOfTheNormalDistribution) {
  const std::vector<double> a = normals(3, 400, 20, 3), by = normals(4, 400, -0.5, 2);
  std::vector<double> b = a;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] += by[i];
  const Difference d = difference_of(system_of(a), system_of(b));
  EXPECT_TRUE(d.shown());
  EXPECT_NEAR(d.second - d.first, d.value, 1e-15);
  const double half = 1.96 * 0.2 / 20, of_one = 1.96 * 0.3 / 20;
  EXPECT_NEAR(d.interval.high - d.interval.low, 2 * half, 0.25 * half);
  EXPECT_NEAR(d.first_interval.high - d.first_interval.low, 2 * of_one, 0.25 * of_one);
  EXPECT_LT(d.p_randomization, 0.001);
  EXPECT_GT(d.p_randomization, 0);  // (c + 1) / (R + 1)
  EXPECT_LT(d.p_bootstrap, 0.01);
  EXPECT_GT(d.p_bootstrap, 0);
  const Difference mirrored = difference_of(system_of(b), system_of(a));
  EXPECT_EQ(mirrored.interval.low, -d.interval.high);
  EXPECT_NEAR(mirrored.p_randomization, d.p_randomization, 1e-3);
}

// Those of one system are sacreBLEU's, also of few units: without the tails that differences have.
TEST(Comparison, IntervalsOfASystemAreThoseOfItsResamples) {
  std::vector<double> nats(kFewestUnits, 10);
  nats[0] = 20;
  const Difference d =
      difference_of(system_of(std::vector<double>(nats.size(), 0)), system_of(nats));
  EXPECT_LT(d.second_interval.high, d.interval.high);
  EXPECT_GT(d.second_interval.high, d.second);
}

// Units that are all alike vary by seed alone.
TEST(Comparison, GroupsVaryBySeed) {
  std::vector<System> a, b;
  for (const double nats : {20, 22, 24}) a.push_back(system_of(std::vector<double>(20, nats)));
  for (const double nats : {15, 16}) b.push_back(system_of(std::vector<double>(20, nats)));
  Pool pool(1);
  const Difference d = difference(a, b, loss_metric(), pool);
  const double half = 3.182446305284263 * std::sqrt(0.04 / 3 + 0.005 / 2);
  EXPECT_NEAR(d.value, -0.65, 1e-12);
  EXPECT_NEAR(d.interval.low, -0.65 - half, 1e-6);
  EXPECT_NEAR(d.interval.high, -0.65 + half, 1e-6);
  EXPECT_NEAR(d.p_seeds, student_tail(0.65 / std::sqrt(0.04 / 3 + 0.005 / 2), 3), 1e-6);
  // One alone has the spread of the others.
  const Difference one = difference(a, std::span(b).first(1), loss_metric(), pool);
  EXPECT_NEAR(one.interval.high - one.value, 4.302652729749464 * std::sqrt(0.04 / 3 + 0.04), 1e-6);
}

// Figures without spread over seeds vary by their units: by those of the difference.
TEST(Comparison, GroupsVaryByUnits) {
  const std::vector<double> nats = normals(11, 400, 20, 3), by = normals(12, 400, 0, 2);
  std::vector<double> more = nats, apart = nats;
  for (std::size_t i = 0; i < nats.size(); ++i) ++more[i], apart[i] += by[i];
  const std::vector<System> a(2, system_of(nats)), b(2, system_of(more)), c(2, system_of(apart));
  Pool pool(1);
  const auto half = [&](const std::vector<System>& group) {
    const Difference d = difference(a, group, loss_metric(), pool);
    return d.interval.high - d.value;
  };
  EXPECT_NEAR(half(b), 0, 1e-9);
  EXPECT_NEAR(half(c), 4.302652729749464 * 0.2 / 20, 0.1 * 0.043);
}

// scripts/dev/check_compare.py runs these on real runs: HEED_SYSTEMS names a file with the number
// of runs, then for each unit its tokens and the nats of each run.
std::vector<System> real_systems() {
  std::ifstream file(std::getenv("HEED_SYSTEMS"));
  std::size_t runs = 0;
  file >> runs;
  std::vector<System> systems(runs);
  for (double tokens = 0, nats = 0; file >> tokens;)
    for (System& system : systems) file >> nats, system.push_back({nats, tokens, 0, 0, 0});
  return systems;
}

System drawn_units(const System& system, std::uint64_t key, std::size_t n) {
  System drawn;
  for (std::size_t i = 0; i < n; ++i)
    drawn.push_back(system[static_cast<std::size_t>(uniform01(key, i) * system.size())]);
  return drawn;
}

TEST(Comparison, DISABLED_IntervalsOfTwoModelsCover) {
  const std::vector<System> systems = real_systems();
  const double mean = difference_of(systems[0], systems[1]).value;
  constexpr int kSets = 2'000;
  int covered = 0;
  for (int i = 0; i < kSets; ++i) {
    const Difference d =
        difference_of(drawn_units(systems[0], i, 200), drawn_units(systems[1], i, 200));
    covered += d.interval.low <= mean && mean <= d.interval.high;
  }
  std::printf("intervals of two models cover %d of %d\n", covered, kSets);
  EXPECT_GE(covered, 0.94 * kSets);
  EXPECT_LE(covered, 0.96 * kSets);
}

// Six of the runs, all different, as a key says.
std::vector<System> six_of(const std::vector<System>& systems, std::uint64_t key) {
  std::vector<System> six;
  for (std::size_t i = 0; i < 6; ++i) six.push_back(systems[permuted(key, systems.size(), i)]);
  return six;
}

TEST(Comparison, DISABLED_GroupsOfSeedsCover) {
  const std::vector<System> systems = real_systems();
  Pool pool(1);
  constexpr int kDraws = 400, kSets = 2'000;
  int none = 0, covered = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<System> six = six_of(systems, hash64(i));
    none +=
        !difference(std::span(six).first(3), std::span(six).last(3), loss_metric(), pool).shown();
  }
  for (int i = 0; i < kSets; ++i) {
    std::vector<System> six = six_of(systems, hash64(kDraws + i));
    for (System& system : six) system = drawn_units(system, hash64(i), 200);
    covered +=
        !difference(std::span(six).first(3), std::span(six).last(3), loss_metric(), pool).shown();
  }
  std::printf("no difference in %d of %d draws; intervals of groups cover %d of %d\n", none, kDraws,
              covered, kSets);
  EXPECT_GE(none, 0.93 * kDraws);
  EXPECT_GE(covered, 0.94 * kSets);
  EXPECT_LE(covered, 0.98 * kSets);
}

}  // namespace
}  // namespace heed
