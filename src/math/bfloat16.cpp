// train.precision: float32, or bfloat16, whose products take rounded operands and sum in float32
// (Kalamkar et al. 2019, "A Study of BFLOAT16 for Deep Learning Training").
//
//   rounded, to nearest even     the weights, the inputs and the output gradients of linear layers
//   float32                      all else: products' sums and results, biases and their gradients,
//                                attention, residual stream, norms, softmax, loss, gradients, the
//                                weights that the optimizer moves, checkpoints
//
// Weights are rounded once a step, in weights_changed(), into one array that all threads read.
// Activations are rounded once in forward and once in backward, into memory that each thread keeps,
// with zeros up to whole blocks of 64 rows and 32 columns; so are weights whose sizes are no
// multiples of 32. So products have few shapes, and what a row becomes depends on its batch alone.
//
// The module heed_onednn (math/onednn.h) multiplies, where it was built and the processor has
// AVX512_BF16 or AMX. Elsewhere OpenBLAS multiplies the rounded numbers as floats: the same but
// for the order of the sums, and slower. Numbers below 2^-126 count as 0 in the module alone.
#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/profile.h"
#include "base/std_names.h"
#include "math/blas.h"
#include "math/onednn.h"
#include "math/products.h"
#include "math/row_ops.h"
#include "math/workspace.h"

namespace heed {
namespace {

using Bfloat16 = uint16_t;

struct Module {
  decltype(OnednnModule::multiply) multiply = nullptr;  // null: there is none
  string info;
};

Module without(const string& why) {
  return {nullptr, "float32 products of rounded numbers, slower: " + why};
}

// Beside the program, or in ../lib/heed.
Module load_module() {
#ifdef HEED_STATIC
  return without("a static program has no heed_onednn.so");
#else
  error_code unknown;
  const auto here = "/" / fs::read_symlink("/proc/self/exe", unknown).parent_path();
  auto file = here / "heed_onednn.so";
  if (!fs::exists(file, unknown)) file = here / "../lib/heed/heed_onednn.so";
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return without(::dlerror());
  const auto module = static_cast<const OnednnModule*>(::dlsym(library, "heed_onednn"));
  if (!module || module->interface != OnednnModule::kInterface)
    return without(file.string() + " is of another heed");
  const char* const version = module->version();
  if (version == nullptr) return without("no AVX512_BF16 (the processor's, or ONEDNN_MAX_CPU_ISA)");
  return {module->multiply, "oneDNN " + string(version)};
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
    const auto bits = std::bit_cast<uint32_t>(x[i]);
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    const uint32_t up = nan ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
    if constexpr (sizeof(N) == 2)
      to[i] = N(up >> 16);
    else
      to[i] = std::bit_cast<float>(up & 0xffff0000);
  }
}

// Of op(m): rows [begin, end), the first `cols` columns.
template <class N>
Operand<N> part(Operand<N> m, int begin, int end, int cols) {
  return {m.op == Op::none ? m.mat.row_range(begin, end).col_range(0, cols)
                           : m.mat.row_range(0, cols).col_range(begin, end),
          m.op};
}

// c = a b (+ bias) (+ c)
void multiply(Operand<Bfloat16> a, Operand<Bfloat16> b, In<float> bias, bool add, Mat<float> c) {
  onednn().multiply({c.rows, c.cols, a.cols(), a.mat.stride, b.mat.stride, c.stride,
                     a.op == Op::transpose, b.op == Op::transpose, !bias.empty(), add},
                    a.mat.data, b.mat.data, bias.data, c.data);
}
void multiply(Operand<float> a, Operand<float> b, In<float> bias, bool add, Mat<float> c) {
  if (!bias.empty()) fill_rows(bias, c);
  gemm<float>(1, a, b, add || !bias.empty(), c);
}

constexpr int kRows = 64, kInner = 32;

int whole(int n, int block) {
  return (n + block - 1) / block * block;
}

// How many of n rows or columns of weights or gradients are used where they lie, without zeros up
// to whole blocks: all, or so many that those left are enough for a fast product.
int in_place(int n) {
  constexpr int kEnough = 128;
  return n % kInner == 0 ? n : max(0, n / kEnough - 1) * kEnough;
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
  void weights_changed(const float* values, size_t size, Pool& pool) override {
    constexpr size_t kAtOnce = 1 << 16;
    values_ = values;
    weights_.resize(size);
    pool.run((size + kAtOnce - 1) / kAtOnce, [&](int task, int) {
      const size_t begin = task * kAtOnce, n = min(kAtOnce, size - begin);
      round_row(values + begin, n, weights_.data() + begin);
    });
  }

  void forward(In<float> x, In<float> w, In<float> b, Mat<float> y) const override {
    const Timed timed(Work::linear_forward);
    const WorkspaceScope scope(workspace());
    multiply_weights(rounded(x), transposed(w), b, false, y);
  }

  void backward(In<float> dy, In<float> x, In<float> w, Mat<float> dw,
                Mat<float> dx) const override {
    const Timed timed(Work::linear_backward);
    const WorkspaceScope scope(workspace());
    const Mat<const N> d = rounded(dy), in = rounded(x);
    multiply_blocks(transposed(d), as_is(in.col_range(0, dw.cols)), {}, true, dw,
                    in_place(dw.rows));
    if (!dx.empty()) multiply_weights(d, as_is(w), {}, true, dx);
  }

  string info() const override { return onednn().info; }

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

  // y = a w (+ bias) (+ y). What cannot be read where weights_changed() put it is rounded again.
  void multiply_weights(Mat<const N> a, Operand<float> w, In<float> bias, bool add,
                        Mat<float> y) const {
    const std::less<const float*> before;
    const float* const first = w.mat.data;
    const bool kept = !before(first, values_) && before(first, values_ + weights_.size());
    const int inner = w.rows(), k = kept ? in_place(inner) : 0, rows = y.rows / kRows * kRows;
    if (k > 0) {
      const Mat<const N> own(weights_.data() + (first - values_), w.mat.rows, w.mat.cols,
                             w.mat.stride);
      multiply_blocks(as_is(a.col_range(0, k)), part<N>({own, w.op}, 0, k, y.cols), bias, add, y,
                      rows);
    }
    if (k == inner) return;
    const Operand<N> rest{rounded(part(w, k, inner, y.cols).mat), w.op};
    multiply_blocks(as_is(a.col_range(k, a.cols)), part(rest, 0, a.cols - k, y.cols),
                    k > 0 ? In<float>() : bias, add || k > 0, y, rows);
  }

  // y = a b (+ bias) (+ y), where a has whole blocks of rows, y only `whole_rows` in them.
  static void multiply_blocks(Operand<N> a, Operand<N> b, In<float> bias, bool add, Mat<float> y,
                              int whole_rows) {
    if (whole_rows > 0)
      multiply(part(a, 0, whole_rows, a.cols()), b, bias, add, y.row_range(0, whole_rows));
    if (whole_rows == y.rows) return;
    const Mat<float> own = y.row_range(whole_rows, y.rows),
                     padded = workspace().zeros<float>(a.rows() - whole_rows, y.cols),
                     same = padded.row_range(0, own.rows);
    if (add) copy_rows<float>(own, same);
    multiply(part(a, whole_rows, a.rows(), a.cols()), b, bias, add, padded);
    copy_rows<float>(same, own);
  }

  const float* values_ = nullptr;
  vector<N> weights_ = {};  // of values_, in their places
};

}  // namespace

unique_ptr<Products<float>> bfloat16_products(bool use_module) {
  if (use_module && onednn().multiply) return make_unique<RoundedProducts<Bfloat16>>();
  return make_unique<RoundedProducts<float>>();
}

}  // namespace heed
