// The module heed_onednn.so, the only file that knows oneDNN (versions 2 and 3).
#include "math/onednn.h"

#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

extern "C" void omp_set_num_threads(int);  // of the OpenMP that oneDNN was built with

namespace heed {
namespace {

using dnnl::memory;

struct Prepared {
  dnnl::matmul product;
  memory a, b, bias, c;
  std::unordered_map<int, memory> arguments = {};
};

memory::desc matrix(int rows, int cols, int stride, bool transposed, memory::data_type type) {
  return {memory::dims{rows, cols}, type,
          transposed ? memory::dims{1, stride} : memory::dims{stride, 1}};
}

Prepared prepare(const OnednnProduct& p, const dnnl::engine& engine) {
  constexpr auto kBf16 = memory::data_type::bf16, kF32 = memory::data_type::f32;
  const auto a = matrix(p.m, p.k, p.lda, p.a_transposed, kBf16),
             b = matrix(p.k, p.n, p.ldb, p.b_transposed, kBf16),
             c = matrix(p.m, p.n, p.ldc, false, kF32);
  const auto bias = p.with_bias ? matrix(1, p.n, p.n, false, kF32) : memory::desc();
  dnnl::post_ops sum;
  if (p.add) sum.append_sum(1.0f);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(sum);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc how(engine, a, b, bias, c, attributes);
#else
  const dnnl::matmul::primitive_desc how(dnnl::matmul::desc(a, b, bias, c), attributes, engine);
#endif
  const auto at = [&](const memory::desc& d) { return memory(d, engine, DNNL_MEMORY_NONE); };
  Prepared made{dnnl::matmul(how), at(a), at(b), p.with_bias ? at(bias) : memory(), at(c)};
  made.arguments = {{DNNL_ARG_SRC, made.a}, {DNNL_ARG_WEIGHTS, made.b}, {DNNL_ARG_DST, made.c}};
  if (p.with_bias) made.arguments[DNNL_ARG_BIAS] = made.bias;
  return made;
}

// Of one thread. (oneDNN keeps the code of the products for all threads.)
struct Worker {
  Worker() { omp_set_num_threads(1); }
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::map<OnednnProduct, Prepared> prepared = {};
};

}  // namespace

const char* heed_onednn_version() {
  if (!__builtin_cpu_supports("avx512bf16")) return nullptr;
#ifdef __SANITIZE_ADDRESS__  // its stacks for signals are too small for the registers of AMX
  dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
#elif defined(__linux__)
  constexpr int kRequest = 0x1023, kTiles = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  ::syscall(SYS_arch_prctl, kRequest, kTiles);   // refused where there are none
#endif
  const dnnl_version_t* v = dnnl_version();
  const bool tiles = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_amx;
  static const std::string version = std::to_string(v->major) + "." + std::to_string(v->minor) +
                                     "." + std::to_string(v->patch) +
                                     (tiles ? ", AMX" : ", AVX512_BF16");
  return version.c_str();
}

void heed_onednn_multiply(const OnednnProduct& product, const std::uint16_t* a,
                          const std::uint16_t* b, const float* bias, float* c) {
  thread_local Worker worker;
  auto found = worker.prepared.find(product);
  if (found == worker.prepared.end())
    found = worker.prepared.emplace(product, prepare(product, worker.engine)).first;
  Prepared& p = found->second;
  // It writes to none but c.
  p.a.set_data_handle(const_cast<std::uint16_t*>(a));
  p.b.set_data_handle(const_cast<std::uint16_t*>(b));
  if (bias) p.bias.set_data_handle(const_cast<float*>(bias));
  p.c.set_data_handle(c);
  p.product.execute(worker.stream, p.arguments);
  worker.stream.wait();
}

}  // namespace heed
