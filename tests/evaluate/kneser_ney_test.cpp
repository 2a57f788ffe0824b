#include "evaluate/kneser_ney.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "text/tokenizer.h"

namespace heed {
namespace {

using Gram = std::vector<int>;
using Texts = std::vector<Gram>;

KneserNey learnt(const Texts& lines, int order, int ids) {
  KneserNey model(order, ids);
  for (const Gram& line : lines) {
    auto context = model.start();
    for (const int id : line) model.learn(context, id);
  }
  return model;
}

KneserNey::Context after(const KneserNey& model, const Gram& ids) {
  auto context = model.start();
  for (const int id : ids) model.read(context, id);
  return context;
}

double probability(const KneserNey& model, const Gram& before, int id) {
  auto context = after(model, before);
  return model.read(context, id);
}

// <s> a b a c a b, worked out by hand. Bigrams: ab twice, <s>a, ba, ac and ca once, so D2 = 4 / (4
// + 2). Before a there are 3 different ids, before b and c one each: no id has two, so D1 = 0.5.
TEST(KneserNey, GivesWhatIsWorkedOutByHand) {
  constexpr int a = 3, b = 4, c = 5, d = 6;  // d: never seen
  const KneserNey model = learnt({{a, b, a, c, a, b}}, 2, 4);
  const std::map<int, double> one = {{a, 0.575}, {b, 0.175}, {c, 0.175}, {d, 0.075}};
  const double share = 4.0 / 9;  // after a: D2 * 2 kinds / 3
  EXPECT_NEAR(probability(model, {a}, b), share + share * one.at(b), 1e-15);
  EXPECT_NEAR(probability(model, {a}, c), 1.0 / 9 + share * one.at(c), 1e-15);
  EXPECT_NEAR(probability(model, {a}, d), share * one.at(d), 1e-15);
  EXPECT_NEAR(probability(model, {b}, a), 1.0 / 3 + 2.0 / 3 * one.at(a), 1e-15);
  EXPECT_NEAR(probability(model, {}, a), 1.0 / 3 + 2.0 / 3 * one.at(a), 1e-15);
  for (const auto& [id, p] : one) EXPECT_NEAR(probability(model, {d}, id), p, 1e-15);
}

TEST(KneserNey, IsFullBeforeItTakesMoreThanItSays) {
  KneserNey model(6, 65536);
  auto context = model.start();
  std::uint32_t x = 1;
  int learnt = 0;
  for (; !model.full(); ++learnt) model.learn(context, static_cast<int>((x = 69069 * x + 1) >> 16));
  EXPECT_GT(learnt, 600'000);
  EXPECT_LT(learnt, 1'000'000);
  EXPECT_EQ(KneserNey::memory(learnt), KneserNey::memory(1e9));
  EXPECT_LT(KneserNey::memory(1000), 1e6);
}

TEST(KneserNey, IsUniformBeforeItHasSeenAnything) {
  for (const int id : {3, 7}) EXPECT_EQ(probability(KneserNey(6, 5), {3, 3}, id), 0.2);
}

// The definition, with no thought for speed.
struct SlowKneserNey {
  int order, ids;
  Texts lines;  // <s> before each
  std::map<Gram, double> a;

  SlowKneserNey(const Texts& text, int n, int possible) : order(n), ids(possible), lines(text) {
    std::map<Gram, std::set<int>> before;
    for (Gram& line : lines) {
      line.insert(line.begin(), Tokenizer::kBos);
      for (std::size_t end = 2; end <= line.size(); ++end)
        for (std::size_t k = 1; k <= std::min<std::size_t>(order, end); ++k) {
          const Gram gram(line.begin() + end - k, line.begin() + end);
          if (k == static_cast<std::size_t>(order) || k == end)
            a[gram] += 1;
          else
            before[gram].insert(line[end - k - 1]);
        }
    }
    for (const auto& [gram, set] : before) a[gram] = static_cast<double>(set.size());
  }

  double discount(std::size_t k) const {
    double n1 = 0, n2 = 0;
    for (const auto& [gram, count] : a) {
      n1 += gram.size() == k && count == 1;
      n2 += gram.size() == k && count == 2;
    }
    return n1 == 0 || n2 == 0 ? 0.5 : n1 / (n1 + 2 * n2);
  }

  // The last order - 1 ids of `h` count.
  double p(Gram h, int id) const {
    while (h.size() + 1 > static_cast<std::size_t>(order)) h.erase(h.begin());
    return of(h, id);
  }
  double of(const Gram& h, int id) const {
    const double lower = h.empty() ? 1.0 / ids : of(Gram(h.begin() + 1, h.end()), id);
    double sum = 0, kinds = 0, own = 0;
    for (const auto& [gram, count] : a) {
      if (gram.size() != h.size() + 1 || !std::equal(h.begin(), h.end(), gram.begin())) continue;
      sum += count;
      ++kinds;
      if (gram.back() == id) own = count;
    }
    if (sum == 0) return lower;
    const double d = discount(h.size() + 1);
    return (std::max(own - d, 0.0) + d * kinds * lower) / sum;
  }
};

TEST(KneserNey, EqualsItsDefinitionAndSumsToOneAfterAnything) {
  std::mt19937 random(7);
  const auto draw = [&](int n) { return static_cast<int>(random() % n); };
  for (const int order : {1, 2, 3, 6}) {
    Texts lines(4);
    for (Gram& line : lines) {
      for (int i = 40 + draw(40); i > 0; --i) line.push_back(3 + std::min(draw(6), draw(6)));
      line.push_back(Tokenizer::kEos);
    }
    const int ids = 8;  // </s>, 3 to 8 and one that is never seen
    const KneserNey fast = learnt(lines, order, ids);
    const SlowKneserNey slow(lines, order, ids);
    for (int trial = 0; trial < 30; ++trial) {
      Gram h;
      for (int i = draw(8); i > 0; --i) h.push_back(3 + draw(7));
      Gram known = h;
      known.insert(known.begin(), Tokenizer::kBos);
      double sum = 0;
      for (const int id : {2, 3, 4, 5, 6, 7, 8, 9}) {
        const double p = probability(fast, h, id);
        EXPECT_NEAR(p, slow.p(known, id), 1e-12) << "order " << order;
        sum += p;
      }
      EXPECT_NEAR(sum, 1.0, 1e-12);
    }
  }
}

}  // namespace
}  // namespace heed
