// Attention against a slow reference, and where dropout draws differ.
#include "nn/attention.h"

#include <set>

#include "math/attention_head.h"
#include "math/buffer.h"
#include "nn/models.h"

namespace heed {
namespace {

using test::Buffer;

// P = softmax(scale Q Kᵀ) of what each query sees; O = drop(P) V
struct Twin {
  Buffer<double> p, o;
};

template <class T>
Twin slow_head(const AttentionHead<T>& h, int d) {
  const int n = h.q.rows, m = h.k.rows;
  Twin t{Buffer<double>(n, padded_keys(m)), Buffer<double>(n, d)};
  Buffer<double> dropped(n, padded_keys(m));
  for (int i = 0; i < n; ++i) {
    const int seen = h.causal ? m - n + i + 1 : m;
    double sum = 0;
    for (int j = 0; j < seen; ++j) {
      double score = 0;
      for (int c = 0; c < d; ++c) score += static_cast<double>(h.q(i, c)) * h.k(j, c);
      sum += t.p(i, j) = h.uniform ? 1.0 : std::exp(h.scale * score);
    }
    for (int j = 0; j < seen; ++j) t.p(i, j) /= sum;
  }
  drop(t.p.view(), dropped.mat(), h.dropout);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int c = 0; c < d; ++c) t.o(i, c) += dropped(i, j) * h.v(j, c);
  return t;
}

template <class T>
class Head : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Head, Types);

TYPED_TEST(Head, EqualsTheSlowTwin) {
  using T = TypeParam;
  const int d = 5;
  std::vector<std::uint64_t> keys;
  for (int r = 0; r < 140; ++r) keys.push_back(combine(1, r));
  for (const auto& [n, m, causal] : {std::tuple{1, 1, true},
                                     {3, 3, true},
                                     {2, 6, true},
                                     {140, 140, true},
                                     {65, 70, true},
                                     {4, 7, false},
                                     {80, 3, false}})  // causal queries go in blocks of 24
    for (const bool uniform : {false, true})
      for (const double rate : {0.0, 0.3}) {
        const auto q = Buffer<T>::random(n, d, 1, 2), k = Buffer<T>::random(m, d, 2, 2);
        const auto v = Buffer<T>::random(m, d, 3);
        Buffer<T> p(n, padded_keys(m), 0), o(n, d);
        p.fill(T{9});
        const AttentionHead<T> head{q.view(), k.view(), v.view(),
                                    p.mat(),  o.mat(),  T{0.6},
                                    causal,   uniform,  {rate, keys.data(), 4}};
        Workspace workspace;
        head_forward(head, workspace);
        const Twin twin = slow_head(head, d);
        SCOPED_TRACE(testing::Message() << n << " x " << m << " rate " << rate);
        test::expect_near(
            p, [&](int i, int j) { return twin.p(i, j); }, 10 * test::kRounding<T>);
        test::expect_near(
            o, [&](int i, int c) { return twin.o(i, c); }, 10 * test::kRounding<T>);
        for (int i = 0; causal && i < n; ++i)
          for (int j = m - n + i + 1; j < p.cols(); ++j) ASSERT_EQ(p(i, j), 0);
      }
}

// Its rows for n random ones of one sequence, whose dropout has this key.
std::vector<std::vector<double>> output(const Attention& attention, const ParamVec<double>& values,
                                        int n, std::uint64_t key = 0) {
  Packed rows;
  rows.add_sequence(std::vector<int>(n).data(), n, 0, key);
  const auto x = Buffer<double>::random(n, 8, 1);
  Workspace workspace;
  Pass<double> pass{.values = values, .workspace = workspace};
  AttentionSaved<double> saved;
  const Mat<double> y = attention.forward(pass, x.view(), {.rows = &rows}, saved);
  std::vector<std::vector<double>> copied;
  for (int r = 0; r < n; ++r) copied.emplace_back(y.row(r), y.row(r) + y.cols);
  return copied;
}

// d_head is 4: queries half as long have the same scores without 1 / sqrt(d_head).
TEST(Attention, ScoresAreScaledUnlessTheConfigSaysNo) {
  const auto made = [](bool scaled, double length) {
    ModelConfig config = test::tiny_config(test::Family::decoder_only);
    config.attention.decoder_self.scaled = scaled;
    ParamTable table;
    const Attention attention(table, "layers.0", AttentionKind::decoder_self, 0, config, {});
    ParamVec<double> values(table.size());
    initialize(table, 1, values);
    const Mat<double> queries = values[attention.in.weight].row_range(0, 8);
    for (int i = 0; i < 64; ++i) queries.data[i] *= length;
    return output(attention, values, 5);
  };
  EXPECT_EQ(made(true, 1), made(false, 0.5));
  EXPECT_NE(made(true, 1), made(false, 1));
}

// Both heads see the same values under uniform weights: what differs is the dropout.
TEST(AttentionDropout, EveryHeadAndLayerDrawsItsOwn) {
  ModelConfig config = test::tiny_config(test::Family::decoder_only);
  config.attention_dropout = 0.5;
  config.attention.decoder_self.uniform = true;
  ParamTable table;
  const Attention first(table, "layers.0", AttentionKind::decoder_self, 0, config, {});
  const Attention second(table, "layers.1", AttentionKind::decoder_self, 1, config, {});
  ParamVec<double> values(table.size());
  for (const Attention* a : {&first, &second})
    for (int c = 0; c < 8; ++c) {
      values[a->out.weight](c, c) = 1;
      values[a->in.weight](2 * 8 + c, 0) = 1;  // every value is x_0
    }
  const auto a = output(first, values, 20, 77), b = output(second, values, 20, 77);
  int heads_differ = 0, layers_differ = 0;
  for (int r = 0; r < 20; ++r) {
    EXPECT_EQ(a[r][0], a[r][3]);  // columns of one head
    heads_differ += a[r][0] != a[r][4];
    layers_differ += a[r][0] != b[r][0];
  }
  EXPECT_GT(heads_differ, 15);
  EXPECT_GT(layers_differ, 15);
}

TEST(RowKeys, NameTheSequenceAndThePosition) {
  const int ids[5] = {1, 1, 1, 1, 1};
  Packed all, part;
  all.add_sequence(ids, 5, 0, 3);
  all.add_sequence(ids, 5, 0, 4);
  part.add_sequence(ids, 2, 3, 3);
  EXPECT_EQ(std::set<std::uint64_t>(all.row_keys.begin(), all.row_keys.end()).size(), 10u);
  EXPECT_EQ(part.row_keys, (std::vector<std::uint64_t>{all.row_keys[3], all.row_keys[4]}));
  EXPECT_EQ(part.positions, (std::vector<int>{3, 4}));
  EXPECT_EQ(all.begin, (std::vector<int>{0, 5, 10}));
  Packed none;
  none.add_sequence(ids, 5);
  EXPECT_TRUE(none.row_keys.empty());
}

}  // namespace
}  // namespace heed
