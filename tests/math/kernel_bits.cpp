// A program that runs every kernel on rows of 1 to 70 numbers and prints a hash of all that it
// computes, one line for each kernel, type and length. kernel_bits_test.py compares the lines of
// several builds of it. It compiles the kernels itself, with flags of its own; tests/CMakeLists.txt
// also makes one that includes headers instead, and is linked with heed's kernels (OF_HEED).
#include <cstdio>
#include <numeric>
#include <string>

#include "base/noise.h"
#include "decode/next_token.cpp"
#include "math/activation.cpp"
#include "math/attention_head.cpp"
#include "math/batch_invariant.cpp"
#include "math/blas.cpp"
#include "math/dropout.cpp"
#include "math/lanes.h"
#include "math/normalize.cpp"
#include "math/packed_gemm.cpp"
#include "math/row_ops.cpp"
#include "math/softmax.cpp"
#include "math/workspace.cpp"
#include "nn/attention.cpp"
#include "nn/embedding.cpp"
#include "nn/feed_forward.cpp"
#include "nn/loss.cpp"
#include "nn/param.cpp"
#include "nn/transformer.cpp"
#include "step/exchange.cpp"
#include "step/gradients.cpp"
#include "step/newton_schulz.cpp"
#include "step/optimizers.cpp"

namespace heed {

#ifndef OF_HEED
// A pool of one thread, without what the real one is linked with.
int available_cores() {
  return 1;
}
Pool::Pool(int, int) {}
Pool::~Pool() {}
void Pool::run_tasks(int tasks, const function<void(int, int)>& f) {
  for (int i = 0; i < tasks; ++i) f(i, 0);
}
#endif

namespace {

const char* type_name = "";

template <class T>
struct Numbers {
  std::vector<T> data;
  Mat<T> mat;
  Numbers(int rows, int cols, int seed, double size = 1)
      : data(static_cast<std::size_t>(rows) * cols), mat(data.data(), rows, cols) {
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<T>(size * (2 * uniform01(hash64(seed), i) - 1));
  }
  Numbers(const Numbers&) = delete;
};

class Hash {
 public:
  template <class T>
  Hash& add(const T* x, std::size_t n) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(x);
    for (std::size_t i = 0; i < n * sizeof(T); ++i) value_ = (value_ ^ bytes[i]) * 0x100000001B3u;
    return *this;
  }
  template <class T>
  Hash& add(const Numbers<T>& x) {
    return add(x.data.data(), x.data.size());
  }
  Hash& add(const RowLoss& x) { return add(&x.objective, 1).add(&x.nll, 1); }
  void print(const std::string& what, int n) const {
    std::printf("%s %s %d %016llx\n", what.c_str(), type_name, n,
                static_cast<unsigned long long>(value_));
  }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325u;
};

constexpr Activation kActivations[] = {Activation::relu, Activation::gelu, Activation::silu,
                                       Activation::relu2, Activation::gelu_tanh};

template <class T>
void rows_of(int n) {
  constexpr int kRows = 3;
  const std::uint64_t keys[kRows] = {5, 6, 7};
  const Numbers<T> gain(1, n, 1), bias(1, n, 2), x(kRows, n, 3, 4), dy(kRows, n, 4);
  for (const NormType type : {NormType::layer, NormType::rms}) {
    Numbers<T> y(kRows, n, 5), stats(kRows, 2, 6), dx(kRows, n, 7), dgain(1, n, 8), dbias(1, n, 9);
    normalize<T>({type}, x.mat, gain.mat, bias.mat, y.mat, stats.mat);
    Hash().add(y).add(stats).print("normalize", n);
    normalize_backward<T>(type, x.mat, gain.mat, stats.mat, dy.mat, {dx.mat, dgain.mat, dbias.mat});
    Hash().add(dx).add(dgain).add(dbias).print("normalize_backward", n);
  }
  {
    Numbers<T> y(kRows, n, 3, 4);
    softmax(y.mat.data, (n + 1) / 2, n);
    softmax(y.mat.row(1), n, n);
    Hash().add(y).print("softmax", n);
  }
  for (const double smoothing : {0.0, 0.1}) {
    Numbers<T> y(1, n, 3, 4);
    Hash().add(cross_entropy(y.mat.data, n, n / 2, smoothing)).print("cross_entropy", n);
    const RowLoss loss = cross_entropy_backward(y.mat.data, n, n / 2, smoothing, T(0.3));
    Hash().add(loss).add(y).print("cross_entropy_backward", n);
  }
  for (const double rate : {0.0, 0.3}) {
    const Dropout dropout{rate, keys, 3};
    for (const Activation f : kActivations) {
      Numbers<T> u(kRows, n, 3, 4), h(kRows, n, 5);
      activate<T>(f, u.mat, h.mat, dropout);
      Hash().add(h).print("activate", n);
      activate_with_slope(f, u.mat, h.mat, dropout);
      Hash().add(u).add(h).print("activate_with_slope", n);
    }
    Numbers<T> y(kRows, n, 5), z(kRows, n, 6);
    drop_add<T>(y.mat, x.mat, dropout);
    drop<T>(dy.mat, z.mat, dropout);
    Hash().add(y).add(z).print("dropout", n);
  }
  {
    Numbers<T> sums(1, n, 5), product(7, n, 6);
    add_column_sums<T>(product.mat, sums.mat);
    multiply_by<T>(x.mat, product.mat.row_range(0, kRows));
    Hash().add(sums).add(product).print("row_ops", n);
    const T sum = sum_row(x.mat.data, n);
    const double squares = sum_squares(x.mat.data, n);
    Hash().add(&sum, 1).add(&squares, 1).print("sums", n);
  }
  if (n % 2 == 0) {
    const Numbers<T> angles(4, n, 5);
    const int positions[kRows] = {0, 3, 2};
    Numbers<T> y(kRows, 2 * n, 6);
    rotate<T>(y.mat, 2, {angles.mat}, positions, T{-1});
    Hash().add(y).print("rotate", n);
  }
}

template <class T>
void products_of(int n) {
  Workspace workspace;
  const Numbers<T> x(7, n, 1), w(19, n, 2), b(1, 19, 3);
  Numbers<T> y(7, 19, 4);
  batch_invariant_linear<T>(x.mat, w.mat, b.mat, y.mat, nullptr);
  Hash().add(y).print("batch_invariant_linear", n);
  const Numbers<T> q(1, 2 * n, 1, 2), k(11, n, 2, 2), v(11, n, 3);
  Numbers<T> weights(2, 11, 4), out(1, 2 * n, 5);
  batch_invariant_attention<T>(
      {2, q.mat, k.mat, v.mat, out.mat, weights.mat.data, T(0.3), false, false});
  Hash().add(weights).add(out).print("batch_invariant_attention", n);

  const std::uint64_t keys[] = {1, 2, 3, 4, 5};
  for (const double rate : {0.0, 0.3}) {  // 5 queries and n keys of 24 numbers
    const Numbers<T> queries(5, 24, 1, 2), all_keys(n, 24, 2, 2), values(n, 24, 3), d_o(5, 24, 4);
    Numbers<T> p(5, padded_keys(n), 5), o(5, 24, 6), dq(5, 24, 7), dk(n, 24, 8), dv(n, 24, 9);
    const AttentionHead<T> head{.q = queries.mat,
                                .k = all_keys.mat,
                                .v = values.mat,
                                .p = p.mat,
                                .o = o.mat,
                                .scale = T(0.2),
                                .causal = n >= 5 && n % 2 == 0,
                                .uniform = false,
                                .dropout = {rate, keys, 3}};
    head_forward(head, workspace);
    head_backward<T>(head, {d_o.mat, dq.mat, dk.mat, dv.mat}, workspace);
    Hash().add(p).add(o).add(dq).add(dk).add(dv).print("attention_head", n);
  }
  Numbers<T> square(n, 9, 1);
  orthogonalize(square.mat, blas_products<T>(), workspace);
  Hash().add(square).print("orthogonalize", n);
}

template <class T>
void optimizers(int n) {
  ParamTable table;
  table.add_matrix("decoder.layers.0.fc1.weight", 2, n, {});
  table.add_vector("bias", n, Initializer::ones);
  for (const char* type : {"adam", "adamw", "sgd", "muon"})
    for (const double momentum : {0.0, 0.9}) {
      OptimizerConfig config;
      config.type = type;
      config.momentum = momentum;
      config.weight_decay = config.type == "adam" ? 0 : 0.1;
      Optimizer<T> optimizer(table, config);
      ParamVec<T> values(table.size()), gradients(table.size()), averaged(table.size());
      initialize(table, 1, values);
      Pool pool(1);
      for (int step = 1; step <= 3; ++step) {
        const Numbers<T> g(1, 3 * n, step);
        std::copy(g.data.begin(), g.data.end(), gradients.data());
        optimizer.step(pool, {step, 0.01, 0.7, 0.9}, values, gradients, &averaged);
      }
      Hash()
          .add(values.data(), values.size())
          .add(averaged.data(), averaged.size())
          .print("optimizer", n);
    }
}

void sampling(int n) {
  SamplingRules rules;
  rules.temperature = 0.8;
  rules.top_p = 0.9;
  rules.repetition_penalty = 1.2;
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  for (const int top_k : {0, 5}) {
    rules.top_k = top_k;
    Numbers<float> row(1, n, 1, 4);
    apply_rules({row.data.data(), row.data.size()}, rules, all, {});
    int drawn[20];
    for (int i = 0; i < 20; ++i) drawn[i] = draw({row.data.data(), row.data.size()}, i / 20.0);
    Hash().add(row).add(drawn, 20).print("sampling", n);
  }
}

// The whole model: gradients of two shards, their norm.
void steps(const char* what, const ModelConfig& config) {
  const Transformer model(config, 23, 23);
  StepBatch batch;
  batch.shards.resize(2);
  batch.used = {1, 1};
  for (int shard = 0; shard < 2; ++shard) {
    batch.shards[shard].resize(1);
    for (int length : {3, 11, 25}) {
      std::vector<int> ids(length);
      for (int i = 0; i < length; ++i) ids[i] = (7 * i + shard + length) % 23;
      batch.shards[shard][0].add(model.has_encoder() ? ids : std::vector<int>(), ids, ids, 17);
      batch.labels += length;
    }
  }
  ParamVec<float> values(model.table.size());
  initialize(model.table, 1, values);
  Pool pool(1);
  Gradients gradients(model, 2, pool);
  Optimizer<float> optimizer(model.table, {});
  for (int step = 1; step <= 3; ++step) {
    const LossSums loss = gradients.run(values, batch, 0.1).loss;
    const double norm = gradients.reduce();
    Hash()
        .add(gradients.sum().data(), values.size())
        .add(&norm, 1)
        .add(&loss.objective, 1)
        .print(what, step);
    optimizer.step(pool, {step, 0.01}, values, gradients.sum());
  }
}

void all() {
  for (int n = 1; n <= 70; ++n) {
    type_name = "float";
    rows_of<float>(n);
    products_of<float>(n);
    optimizers<float>(n);
    sampling(n);
    type_name = "double";
    rows_of<double>(n);
    products_of<double>(n);
    optimizers<double>(n);
  }
  type_name = "float";
  ModelConfig config;
  config.d_model = 36;
  config.d_ff = 50;
  config.n_heads = 2;
  config.attention_dropout = config.activation_dropout = 0.1;
  config.max_length = 32;
  steps("post norm, sinusoidal", [&] {
    ModelConfig c = config;
    c.norm = NormPlacement::post;
    return c;
  }());
  config.encoder_layers = 0;
  config.positions = Positions::learned;
  steps("learned positions", config);
  config.positions = Positions::rotary;
  config.feed_forward = FeedForwardType::gated;
  config.norm_type = NormType::rms;
  config.qk_norm = true;
  config.activation = Activation::silu;
  steps("rotary, gated", config);
}

}  // namespace
}  // namespace heed

int main() {
  heed::all();
}
