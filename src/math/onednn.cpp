// The module heed_onednn.so, the only file that knows oneDNN (versions 2 and 3).
#include "math/onednn.h"
#include "base/std_names.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" void omp_set_num_threads(int);  // of the OpenMP that oneDNN was built with

namespace heed {
namespace {

using dnnl::memory;

struct Prepared {
  dnnl::matmul product;
  unordered_map<int, memory> operands;
};

struct alignas(64) CacheLine {
  char bytes[64];
};

// Of one thread. (oneDNN keeps the code of the products for all threads.)
struct Worker {
  Worker() { omp_set_num_threads(1); }
  Prepared prepare(const OnednnProduct& p);

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  map<OnednnProduct, Prepared> prepared = {};
  vector<CacheLine> scratch = {};  // as much as any of them needs
};

Prepared Worker::prepare(const OnednnProduct& p) {
  const auto matrix = [](int rows, int cols, int stride, bool transposed, auto type) {
    const memory::dim row = transposed ? 1 : stride, col = transposed ? stride : 1;
    return memory::desc({rows, cols}, type, memory::dims{row, col});
  };
  constexpr auto kBf16 = memory::data_type::bf16, kF32 = memory::data_type::f32;
  const auto a = matrix(p.m, p.k, p.lda, p.a_transposed, kBf16),
             b = matrix(p.k, p.n, p.ldb, p.b_transposed, kBf16),
             bias = p.with_bias ? matrix(1, p.n, p.n, false, kF32) : memory::desc(),
             c = matrix(p.m, p.n, p.ldc, false, kF32);
  dnnl::post_ops sum;
  if (p.add) sum.append_sum();
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(sum);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc how(engine, a, b, bias, c, attributes);
#else
  const dnnl::matmul::primitive_desc how(dnnl::matmul::desc(a, b, bias, c), attributes, engine);
#endif
  const auto scratch_desc = how.scratchpad_desc();
  scratch.resize(max(scratch.size(), scratch_desc.get_size() / sizeof(CacheLine) + 1));
  const auto operand = [&](const memory::desc& d) { return memory(d, engine, DNNL_MEMORY_NONE); };
  Prepared made{dnnl::matmul(how),
                {{DNNL_ARG_SRC, operand(a)},
                 {DNNL_ARG_WEIGHTS, operand(b)},
                 {DNNL_ARG_DST, operand(c)},
                 {DNNL_ARG_SCRATCHPAD, operand(scratch_desc)}}};
  if (p.with_bias) made.operands[DNNL_ARG_BIAS] = operand(bias);
  return made;
}

const char* version() {
  if (!__builtin_cpu_supports("avx512bf16")) return nullptr;
  constexpr int kRequest = 0x1023, kTiles = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  ::syscall(SYS_arch_prctl, kRequest, kTiles);   // refused where there are none
  const dnnl_version_t* v = dnnl_version();
  const auto uses = [](dnnl::cpu_isa isa) {  // a set of bits; ONEDNN_MAX_CPU_ISA may leave fewer
    const auto bits = unsigned(isa);
    return (unsigned(dnnl::get_effective_cpu_isa()) & bits) == bits;
  };
  if (!uses(dnnl::cpu_isa::avx512_core_bf16)) return nullptr;
  const bool tiles = uses(dnnl::cpu_isa::avx512_core_amx);
  static const string text = to_string(v->major) + "." + to_string(v->minor) + "." +
                             to_string(v->patch) + (tiles ? ", AMX" : ", AVX512_BF16");
  return text.c_str();
}

void multiply(const OnednnProduct& product, const uint16_t* a, const uint16_t* b, const float* bias,
              float* c) {
  thread_local Worker worker;
  auto found = worker.prepared.find(product);
  if (found == worker.prepared.end())
    found = worker.prepared.emplace(product, worker.prepare(product)).first;
  Prepared& p = found->second;
  const auto place = [&](int operand, const void* numbers) {  // it writes to c and scratch alone
    p.operands.at(operand).set_data_handle(const_cast<void*>(numbers));
  };
  place(DNNL_ARG_SRC, a);
  place(DNNL_ARG_WEIGHTS, b);
  if (product.with_bias) place(DNNL_ARG_BIAS, bias);
  place(DNNL_ARG_DST, c);
  place(DNNL_ARG_SCRATCHPAD, worker.scratch.data());
  p.product.execute(worker.stream, p.operands);
  worker.stream.wait();
}

}  // namespace

const OnednnModule heed_onednn = {.version = version, .multiply = multiply};

}  // namespace heed
