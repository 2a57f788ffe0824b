#include "math/bfloat16.h"

#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/profile.h"
#include "math/onednn.h"
#include "math/row_ops.h"
#include "math/workspace.h"

namespace heed {
namespace {

using Bfloat16 = std::uint16_t;

struct Module {
  decltype(&heed_onednn_multiply) multiply = nullptr;  // null: there is none
  std::string info;
};

// Beside the program, or in ../lib/heed.
Module load_module() {
  const std::string slower = "float32 products of rounded numbers, slower: ";
#ifdef HEED_STATIC
  return {nullptr, slower + "a static program has no heed_onednn.so"};
#else
  std::error_code unknown;
  const auto here = "/" / std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  auto file = here / "heed_onednn.so";
  if (!std::filesystem::exists(file, unknown)) file = here / "../lib/heed/heed_onednn.so";
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {nullptr, slower + ::dlerror()};
  const auto version =
      reinterpret_cast<decltype(&heed_onednn_version)>(::dlsym(library, "heed_onednn_version"))();
  if (version == nullptr) return {nullptr, slower + "the processor has no AVX512_BF16"};
  return {
      reinterpret_cast<decltype(&heed_onednn_multiply)>(::dlsym(library, "heed_onednn_multiply")),
      "oneDNN " + std::string(version)};
#endif
}

const Module& onednn() {
  static const Module loaded = load_module();
  return loaded;
}

// To nearest even; NaN stays NaN.
template <class N>
void round_row(const float* x, int n, N* to) {
  for (int i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(x[i]);
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    const std::uint32_t up = nan ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
    if constexpr (sizeof(N) == 2)
      to[i] = static_cast<N>(up >> 16);
    else
      to[i] = std::bit_cast<float>(up & 0xffff0000);
  }
}

template <class N>
struct Factor {  // op(mat)
  Mat<const N> mat;
  Op op = Op::none;
};

// c = op(a) op(b) (+ bias) (+ c)
void multiply(Factor<Bfloat16> a, Factor<Bfloat16> b, In<float> bias, bool add, Mat<float> c) {
  const bool ta = a.op == Op::transpose, tb = b.op == Op::transpose;
  const int k = ta ? a.mat.rows : a.mat.cols;
  onednn().multiply(
      {c.rows, c.cols, k, a.mat.stride, b.mat.stride, c.stride, ta, tb, !bias.empty(), add},
      a.mat.data, b.mat.data, bias.data, c.data);
}
void multiply(Factor<float> a, Factor<float> b, In<float> bias, bool add, Mat<float> c) {
  if (!bias.empty()) fill_rows(bias, c);
  gemm<float>(1, {a.mat, a.op}, {b.mat, b.op}, add || !bias.empty(), c);
}

constexpr int kRows = 64, kInner = 32;

int whole(int n, int block) {
  return (n + block - 1) / block * block;
}

// How many of n rows or columns of weights or gradients are used where they lie, without zeros up
// to whole blocks: all, or so many that those left are enough for a fast product.
int in_place(int n) {
  constexpr int kEnough = 128;
  return n % kInner == 0 ? n : std::max(0, n / kEnough - 1) * kEnough;
}

// What a thread keeps.
Workspace& workspace() {
  thread_local Workspace own;
  return own;
}

// N: how rounded numbers are kept.
template <class N>
class RoundedProducts final : public Products<float> {
 public:
  void weights_changed(const float* values, std::size_t size, Pool& pool) override {
    constexpr std::size_t kAtOnce = 1 << 16;
    values_ = values;
    weights_.resize(size);
    pool.run(static_cast<int>((size + kAtOnce - 1) / kAtOnce), [&](int task, int) {
      const std::size_t begin = task * kAtOnce, n = std::min(kAtOnce, size - begin);
      round_row(values + begin, static_cast<int>(n), weights_.data() + begin);
    });
  }

  void forward(In<float> x, In<float> w, In<float> b, Mat<float> y) const override {
    const Timed timed(Work::linear_forward);
    const WorkspaceScope scope(workspace());
    multiply_weights(rounded(x), w, Op::transpose, b, false, y);
  }

  void backward(In<float> dy, In<float> x, In<float> w, Mat<float> dw,
                Mat<float> dx) const override {
    const Timed timed(Work::linear_backward);
    const WorkspaceScope scope(workspace());
    const Mat<const N> d = rounded(dy), in = rounded(x);
    multiply_blocks({d, Op::transpose}, {in.col_range(0, dw.cols)}, {}, true, dw,
                    in_place(dw.rows));
    if (!dx.empty()) multiply_weights(d, w, Op::none, {}, true, dx);
  }

 private:
  // With zeros up to whole blocks.
  static Mat<const N> rounded(In<float> x) {
    const Mat<N> to = workspace().matrix<N>(whole(x.rows, kRows), whole(x.cols, kInner));
    for (int r = 0; r < to.rows; ++r) {
      const int n = r < x.rows ? x.cols : 0;
      if (n > 0) round_row(x.row(r), n, to.row(r));
      std::fill(to.row(r) + n, to.row(r) + to.cols, N{});
    }
    return to;
  }

  // y = a op(W) (+ bias) (+ y). What cannot be read where weights_changed() put it is rounded
  // again.
  void multiply_weights(Mat<const N> a, In<float> w, Op op, In<float> bias, bool add,
                        Mat<float> y) const {
    const bool across = op == Op::transpose;
    const auto inner_range = [across](const auto& m, int begin, int end) {
      return across ? m.col_range(begin, end) : m.row_range(begin, end);
    };
    const std::less<const float*> before;
    const bool kept = !before(w.data, values_) && before(w.data, values_ + weights_.size());
    const int inner = across ? w.cols : w.rows, k = kept ? in_place(inner) : 0,
              rows = y.rows / kRows * kRows;
    if (k > 0) {
      const Mat<const N> own(weights_.data() + (w.data - values_), w.rows, w.cols, w.stride);
      multiply_blocks({a.col_range(0, k)}, {inner_range(own, 0, k), op}, bias, add, y, rows);
    }
    if (k == inner) return;
    const Mat<const N> rest = inner_range(rounded(inner_range(w, k, inner)), 0, a.cols - k);
    multiply_blocks({a.col_range(k, a.cols)},
                    {across ? rest.row_range(0, y.cols) : rest.col_range(0, y.cols), op},
                    k > 0 ? In<float>() : bias, add || k > 0, y, rows);
  }

  // y = op(a) op(b) (+ bias) (+ y), where op(a) has whole blocks of rows, y only `whole_rows` in
  // them.
  static void multiply_blocks(Factor<N> a, Factor<N> b, In<float> bias, bool add, Mat<float> y,
                              int whole_rows) {
    const bool along = a.op == Op::none;
    const auto rows = [&](int begin, int end) {
      return Factor<N>{along ? a.mat.row_range(begin, end) : a.mat.col_range(begin, end), a.op};
    };
    const int padded_rows = along ? a.mat.rows : a.mat.cols;
    if (whole_rows > 0) multiply(rows(0, whole_rows), b, bias, add, y.row_range(0, whole_rows));
    if (whole_rows == y.rows) return;
    const Mat<float> own = y.row_range(whole_rows, y.rows),
                     padded = workspace().zeros<float>(padded_rows - whole_rows, y.cols),
                     same = padded.row_range(0, own.rows);
    if (add) copy_rows<float>(own, same);
    multiply(rows(whole_rows, padded_rows), b, bias, add, padded);
    copy_rows<float>(same, own);
  }

  const float* values_ = nullptr;
  std::vector<N> weights_ = {};  // of values_, in their places
};

}  // namespace

std::unique_ptr<Products<float>> make_products(Precision precision, bool use_module) {
  if (precision == Precision::float32) return std::make_unique<Products<float>>();
  if (use_module && onednn().multiply) return std::make_unique<RoundedProducts<Bfloat16>>();
  return std::make_unique<RoundedProducts<float>>();
}

std::string bfloat16_info() {
  return onednn().info;
}

}  // namespace heed
