#include "nn/attention.h"

#include <cmath>

#include "base/noise.h"
#include "base/std_names.h"
#include "math/row_ops.h"

namespace heed {
namespace {

Initializer ablated(Initializer init, Projection projection) {
  if (projection == Projection::learned) return init;
  if (projection == Projection::identity) init.kind = Initializer::identity;
  init.frozen = true;
  return init;
}

// Calls body(n, sequence, head, of_query, of_key) for every head of every sequence, in a fixed
// order of which n is the place; of_query(x) and of_key(x) return the part of x for this sequence
// and head, [length, d_head].
template <class Body>
void for_heads(const Attention& a, const Packed& rows, const Packed& key_rows, Body&& body) {
  size_t n = 0;
  for (int i = 0; i < rows.sequences(); ++i)
    for (int h = 0; h < a.n_heads; ++h, ++n)
      body(
          n, i, h, [&](auto x) { return rows.sequence(x, i).part(h, a.d_head()); },
          [&](auto x) { return key_rows.sequence(x, i).part(a.kv_head(h), a.d_head()); });
}

// n views of the pass.
template <class View, class T>
span<View> views(Pass<T>& pass, size_t n) {
  return {pass.workspace.template numbers<View>(n), n};
}

// x with every head normalised; x itself without a norm.
template <class T>
Mat<T> normed(Pass<T>& pass, const optional<Norm>& norm, Mat<T> x, NormSaved<T>& saved) {
  return norm ? norm->forward(pass, x, saved) : x;
}

}  // namespace

const char* attention_name(AttentionKind kind) {
  constexpr const char* kNames[] = {"encoder", "decoder", "cross"};
  return kNames[size_t(kind)];
}

Attention::Attention(ParamTable& table, const string& name, AttentionKind kind_, int layer_,
                     const ModelConfig& config, const LayerInit& init)
    : kind(kind_),
      layer(layer_),
      n_heads(config.n_heads),
      n_kv_heads(kv_heads(config)),
      d_model(config.d_model),
      ablation(kind == AttentionKind::encoder_self   ? config.attention.encoder_self
               : kind == AttentionKind::decoder_self ? config.attention.decoder_self
                                                     : config.attention.cross),
      dropout(config.attention_dropout),
      dropout_id(name_key(name)),
      in(table, d_model,
         {{name + ".q_proj", d_model, ablated(init.weight, ablation.query)},
          {name + ".k_proj", d_kv(), ablated(init.weight, ablation.key)},
          {name + ".v_proj", d_kv(), ablated(init.weight, ablation.value)}},
         config.bias) {
  if (config.qk_norm) {
    q_norm.emplace(table, name + ".q_norm", d_head(), config.norm_eps);
    k_norm.emplace(table, name + ".k_norm", d_head(), config.norm_eps);
  }
  out = Linear(table, name + ".out_proj", d_model, d_model, init.branch_output, config.bias);
}

double Attention::scale() const {
  return ablation.scaled ? 1.0 / sqrt(double(d_head())) : 1.0;
}

template <class T>
void Attention::rotate_both(Mat<T> q, Mat<T> k, const AttentionInput<T>& input, T direction) const {
  if (cross() || !ablation.positions || input.rotary.table.empty()) return;
  const int* positions = input.rows->positions.data();
  rotate(q, n_heads, input.rotary, positions, direction);
  rotate(k, n_kv_heads, input.rotary, positions, direction);
}

// [Q K V] = x [W_q W_k W_v]ᵀ + b,  Q_h, K_h = rotated(normed(Q_h, K_h)),
// y = [P_1 V_1 .. P_H V_H] W_oᵀ + b_o
template <class T>
Mat<T> Attention::forward(Pass<T>& pass, In<T> x, const AttentionInput<T>& input,
                          AttentionSaved<T>& saved) const {
  const int d = d_model;
  Mat<T> q, kv;
  if (!cross()) {
    const Mat<T> qkv = in.forward(pass, x);
    q = qkv.part(0, d);
    kv = qkv.col_range(d, qkv.cols);
  } else {
    q = query().forward(pass, x);
    if (!input.cache) kv = key_value().forward(pass, input.memory);  // else they are in the cache
  }
  saved.q = normed(pass, q_norm, q, saved.q_norm);
  if (!kv.empty()) {
    saved.k = normed(pass, k_norm, kv.part(0, d_kv()), saved.k_norm);
    saved.v = kv.part(1, d_kv());
  }
  rotate_both(saved.q, saved.k, input, T{1});
  saved.context = pass.matrix(x.rows, d);
  input.cache ? attend_cached(pass, input, saved) : attend(pass, input, saved);
  return out.forward(pass, saved.context);
}

// context_h = P_h V_h of all sequences; the heads are kept for backward.
template <class T>
void Attention::attend(Pass<T>& pass, const AttentionInput<T>& input,
                       AttentionSaved<T>& saved) const {
  const Packed &rows = *input.rows, &key_rows = cross() ? *input.memory_rows : rows;
  saved.heads = views<AttentionHead<T>>(pass, size_t(rows.sequences()) * n_heads);
  for_heads(*this, rows, key_rows, [&](size_t n, int i, int h, auto of_query, auto of_key) {
    saved.heads[n] = {
        .q = of_query(saved.q),
        .k = of_key(saved.k),
        .v = of_key(saved.v),
        .p = pass.matrix(rows.length(i), padded_keys(key_rows.length(i))),
        .o = of_query(saved.context),
        .scale = T(scale()),
        .causal = causal(),
        .uniform = ablation.uniform,
        .dropout = rows.dropout(dropout, combine(dropout_id, uint64_t(h)), rows.begin[i])};
  });
  pass.products->attend(saved.heads, pass.workspace);
  if (!pass.observer) return;
  for_heads(*this, rows, key_rows, [&](size_t n, int, int h, auto, auto) {
    pass.observer->on_head(*this, h, saved.heads[n]);
  });
}

// dcontext = dy W_o;  dQ_h, dK_h, dV_h from dcontext_h (attention_head.h), back through rotation
// and norm;  dx += [dQ dK dV] [W_q W_k W_v]; cross: dx += dQ W_q, dmemory += [dK dV] [W_k W_v]
template <class T>
void Attention::backward(Pass<T>& pass, In<T> x, const AttentionInput<T>& input,
                         const AttentionSaved<T>& saved, In<T> dy, Mat<T> dx) const {
  WorkspaceScope scope(pass.workspace);
  const int d = d_model;
  const Packed &rows = *input.rows, &key_rows = cross() ? *input.memory_rows : rows;

  const Mat<T> dcontext = pass.zeros(x.rows, d);
  out.backward(pass, saved.context, dy, dcontext);

  // Self: one [rows, d + 2 d_kv]. Cross: [rows, d] and [memory rows, 2 d_kv].
  const int both = 2 * d_kv();
  const Mat<T> dqkv = pass.zeros(x.rows, cross() ? d : d + both);
  const Mat<T> dkv = cross() ? pass.zeros(key_rows.count(), both) : dqkv.col_range(d, d + both);
  const Mat<T> dq = dqkv.part(0, d), dk = dkv.part(0, d_kv()), dv = dkv.part(1, d_kv());
  const Mat<T> dq_heads = q_norm ? pass.zeros(dq.rows, dq.cols) : dq;
  const Mat<T> dk_heads = k_norm ? pass.zeros(dk.rows, dk.cols) : dk;
  const auto gradients = views<HeadGradients<T>>(pass, saved.heads.size());
  for_heads(*this, rows, key_rows, [&](size_t n, int, int h, auto of_query, auto of_key) {
    gradients[n] = {of_query(dcontext), of_query(dq_heads), of_key(dk_heads), of_key(dv)};
    if (pass.observer) pass.observer->on_head_gradient(*this, h, saved.heads[n], gradients[n].d_o);
  });
  pass.products->attend_backward(saved.heads, gradients, pass.workspace);
  rotate_both(dq_heads, dk_heads, input, T{-1});
  if (q_norm) {
    q_norm->backward(pass, saved.q_norm, dq_heads, dq);
    k_norm->backward(pass, saved.k_norm, dk_heads, dk);
  }

  if (!cross()) {
    in.backward(pass, x, dqkv, dx);
  } else {
    query().backward(pass, x, dq, dx);
    key_value().backward(pass, input.memory, dkv, input.dmemory);
  }
}

// The same for decoding: writes new keys and values to the cache, then attends to all of them.
template <class T>
void Attention::attend_cached(Pass<T>& pass, const AttentionInput<T>& input,
                              AttentionSaved<T>& saved) const {
  const int width = d_kv();
  const Packed& rows = *input.rows;
  Cache<T>& cache = *input.cache->cache;
  const int room = cross() ? cache.cross(layer).rows : cache.capacity();
  Pool* pool = pass.products->pool();
  const int workers = pool ? pool->threads() : 1;
  const Mat<T> all_weights = pass.matrix(workers, n_heads * room);
  const auto attend_sequence = [&](int i, int worker) {
    const int n = rows.length(i), past = rows.positions[rows.begin[i]];
    Mat<T> kv;  // [keys, 2 d_kv]
    if (cross()) {
      kv = input.memory_rows->sequence(cache.cross(layer), input.cache->source_of[i]);
    } else {
      kv = cache.self(layer, input.cache->slot_of[i]).row_range(0, past + n);
      copy_rows(rows.sequence(saved.k, i), kv.row_range(past, past + n).part(0, width));
      copy_rows(rows.sequence(saved.v, i), kv.row_range(past, past + n).part(1, width));
    }
    pass.products->attend_cached({.heads = n_heads,
                                  .q = rows.sequence(saved.q, i),
                                  .k = kv.part(0, width),
                                  .v = kv.part(1, width),
                                  .o = rows.sequence(saved.context, i),
                                  .weights = all_weights.row(worker),
                                  .scale = T(scale()),
                                  .causal = causal(),
                                  .uniform = ablation.uniform});
  };
  if (pool && rows.sequences() > 1)
    pool->run(rows.sequences(), attend_sequence);
  else
    for (int i = 0; i < rows.sequences(); ++i) attend_sequence(i, 0);
}

template <class T>
void Attention::cache_memory(Pass<T>& pass, In<T> memory, Cache<T>& cache) const {
  WorkspaceScope scope(pass.workspace);
  const Mat<T> kv = key_value().forward(pass, memory), to = cache.cross(layer);
  NormSaved<T> unused;
  copy_rows(normed(pass, k_norm, kv.part(0, d_kv()), unused), to.part(0, d_kv()));
  copy_rows(kv.part(1, d_kv()), to.part(1, d_kv()));
}

#define HEED_INSTANTIATE(T)                                                         \
  template Mat<T> Attention::forward(Pass<T>&, In<T>, const AttentionInput<T>&,     \
                                     AttentionSaved<T>&) const;                     \
  template void Attention::backward(Pass<T>&, In<T>, const AttentionInput<T>&,      \
                                    const AttentionSaved<T>&, In<T>, Mat<T>) const; \
  template void Attention::cache_memory(Pass<T>&, In<T>, Cache<T>&) const;
HEED_FLOAT_AND_DOUBLE(HEED_INSTANTIATE)
#undef HEED_INSTANTIATE

}  // namespace heed
