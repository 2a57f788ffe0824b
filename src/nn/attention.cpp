#include "nn/attention.h"

#include <cmath>

#include "base/noise.h"
#include "math/batch_invariant.h"
#include "math/row_ops.h"
#include "nn/attention_head.h"

namespace heed {
namespace {

Initializer ablated(Initializer init, Projection projection) {
  if (projection == Projection::learned) return init;
  if (projection == Projection::identity) init.kind = Initializer::identity;
  init.frozen = true;
  return init;
}

// Columns [part * width, (part + 1) * width): q, k or v, or one head.
template <class T>
Mat<T> part_of(Mat<T> x, int part, int width) {
  return x.col_range(part * width, (part + 1) * width);
}

// Calls body(head, sequence, head number, window) for every head of every sequence, in a fixed
// order. `head` has the P_h stored in `saved`; window(x, rows) is the part of x of this sequence
// and head, [length, d_head].
template <class T, class Body>
void for_saved_heads(const Attention& a, const Packed& rows, const Packed& key_rows,
                     const AttentionSaved<T>& saved, Body&& body) {
  T* p = saved.weights;
  for (int i = 0; i < rows.sequences(); ++i)
    for (int h = 0; h < a.n_heads; ++h) {
      const auto window = [&](auto x, const Packed& of_x) {
        return part_of(of_x.sequence(x, i), h, a.d_head());
      };
      const Mat<T> weights{p, rows.length(i), padded_keys(key_rows.length(i))};
      const AttentionHead<T> head{
          .q = window(saved.q, rows),
          .k = window(saved.k, key_rows),
          .v = window(saved.v, key_rows),
          .p = weights,
          .scale = static_cast<T>(a.scale()),
          .causal = a.causal(),
          .uniform = a.ablation.uniform,
          .dropout = rows.dropout(a.dropout, combine(a.dropout_id, static_cast<std::uint64_t>(h)),
                                  rows.begin[i])};
      body(head, i, h, window);
      p += weights.rows * static_cast<std::ptrdiff_t>(weights.cols);
    }
}

std::size_t weights_size(int n_heads, const Packed& rows, const Packed& key_rows) {
  std::size_t sum = 0;
  for (int i = 0; i < rows.sequences(); ++i)
    sum += static_cast<std::size_t>(rows.length(i)) * padded_keys(key_rows.length(i));
  return sum * n_heads;
}

}  // namespace

const char* attention_name(AttentionKind kind) {
  constexpr const char* kNames[] = {"encoder", "decoder", "cross"};
  return kNames[static_cast<std::size_t>(kind)];
}

Attention::Attention(ParamTable& table, const std::string& name, AttentionKind kind_, int layer_,
                     const ModelConfig& config, const LayerInit& init)
    : kind(kind_),
      layer(layer_),
      n_heads(config.n_heads),
      d_model(config.d_model),
      ablation(kind == AttentionKind::encoder_self   ? config.attention.encoder_self
               : kind == AttentionKind::decoder_self ? config.attention.decoder_self
                                                     : config.attention.cross),
      dropout(config.attention_dropout),
      dropout_id(name_key(name)) {
  const int d = d_model;
  in.weight = table.add_matrix(name + ".q_proj.weight", d, d, ablated(init.weight, ablation.query));
  table.add_matrix(name + ".k_proj.weight", d, d, ablated(init.weight, ablation.key));
  table.add_matrix(name + ".v_proj.weight", d, d, ablated(init.weight, ablation.value));
  in.weight.rows = 3 * d;
  in.bias = table.add_vector(name + ".q_proj.bias", d, Initializer::zeros);
  table.add_vector(name + ".k_proj.bias", d, Initializer::zeros);
  table.add_vector(name + ".v_proj.bias", d, Initializer::zeros);
  in.bias.cols = 3 * d;
  out = Linear(table, name + ".out_proj", d, d, init.branch_output);
}

double Attention::scale() const {
  return ablation.scaled ? 1.0 / std::sqrt(static_cast<double>(d_head())) : 1.0;
}

template <class T>
void Attention::rotate_both(Mat<T> q, Mat<T> k, const AttentionInput<T>& input, T direction) const {
  if (cross() || !ablation.positions || input.rotary.table.empty()) return;
  const int* positions = input.rows->positions.data();
  rotate(q, n_heads, input.rotary, positions, direction);
  rotate(k, n_heads, input.rotary, positions, direction);
}

// [Q K V] = x [W_q W_k W_v]ᵀ + b,  y = [P_1 V_1 .. P_H V_H] W_oᵀ + b_o
template <class T>
Mat<T> Attention::forward(Pass<T>& pass, In<T> x, const AttentionInput<T>& input,
                          AttentionSaved<T>& saved) const {
  Timed timed(pass.profile, Work::attention);
  const int d = d_model;
  if (!cross()) {
    const Mat<T> qkv = in.forward(pass, x);
    saved.q = part_of(qkv, 0, d);
    saved.k = part_of(qkv, 1, d);
    saved.v = part_of(qkv, 2, d);
  } else {
    saved.q = query().forward(pass, x);
    if (!input.cache) {  // else k and v are in the cache
      const Mat<T> kv = key_value().forward(pass, input.memory);
      saved.k = part_of(kv, 0, d);
      saved.v = part_of(kv, 1, d);
    }
  }
  rotate_both(saved.q, saved.k, input, T{1});
  saved.context = pass.matrix(x.rows, d);
  input.cache ? attend_cached(pass, input, saved) : attend(pass, input, saved);
  return out.forward(pass, saved.context);
}

// context_h = P_h V_h of all sequences; the P_h are kept for backward.
template <class T>
void Attention::attend(Pass<T>& pass, const AttentionInput<T>& input,
                       AttentionSaved<T>& saved) const {
  const Packed &rows = *input.rows, &key_rows = cross() ? *input.memory_rows : rows;
  saved.weights = pass.workspace.template numbers<T>(weights_size(n_heads, rows, key_rows));
  for_saved_heads(
      *this, rows, key_rows, saved, [&](const AttentionHead<T>& head, int i, int h, auto window) {
        head_forward(head, window(saved.context, rows), pass.workspace);
        if (pass.observer)
          pass.observer->on_weights({kind, layer, h, i, head.p.col_range(0, head.k.rows), head.v});
      });
}

// dcontext = dy W_o;  dQ_h, dK_h, dV_h from dcontext_h (attention_head.h);
// dx += [dQ dK dV] [W_q W_k W_v]; cross: dx += dQ W_q, dmemory += [dK dV] [W_k W_v]
template <class T>
void Attention::backward(Pass<T>& pass, In<T> x, const AttentionInput<T>& input,
                         const AttentionSaved<T>& saved, In<T> dy, Mat<T> dx) const {
  Timed timed(pass.profile, Work::attention);
  WorkspaceScope scope(pass.workspace);
  const int d = d_model;
  const Packed &rows = *input.rows, &key_rows = cross() ? *input.memory_rows : rows;

  const Mat<T> dcontext = pass.zeros(x.rows, d);
  out.backward(pass, saved.context, dy, dcontext);

  // Self: one [rows, 3 d]. Cross: [rows, d] and [memory rows, 2 d].
  const Mat<T> dqkv = pass.zeros(x.rows, cross() ? d : 3 * d);
  const Mat<T> dkv = cross() ? pass.zeros(key_rows.count(), 2 * d) : dqkv.col_range(d, 3 * d);
  const Mat<T> dq = part_of(dqkv, 0, d), dk = part_of(dkv, 0, d), dv = part_of(dkv, 1, d);
  for_saved_heads(
      *this, rows, key_rows, saved, [&](const AttentionHead<T>& head, int, int, auto window) {
        const HeadGradients<T> to{window(dq, rows), window(dk, key_rows), window(dv, key_rows)};
        head_backward(head, window(dcontext, rows), to, pass.workspace);
      });
  rotate_both(dq, dk, input, T{-1});

  if (!cross()) {
    in.backward(pass, x, dqkv, dx);
  } else {
    query().backward(pass, x, dq, dx);
    key_value().backward(pass, input.memory, dkv, input.dmemory);
  }
}

// The same for decoding: writes new keys and values to the cache, then attends row by row.
template <class T>
void Attention::attend_cached(Pass<T>& pass, const AttentionInput<T>& input,
                              AttentionSaved<T>& saved) const {
  const int d = d_model;
  const Packed& rows = *input.rows;
  Cache<T>& cache = *input.cache->cache;
  const int room = cross() ? cache.cross(layer).rows : cache.capacity();
  const int workers = pass.pool ? pass.pool->threads() : 1;
  const Mat<T> all_weights = pass.matrix(workers, n_heads * room);
  const auto attend_sequence = [&](int i, int worker) {
    const int n = rows.length(i), past = rows.positions[rows.begin[i]];
    Mat<T> kv;  // [keys, 2 d]
    if (cross()) {
      kv = input.memory_rows->sequence(cache.cross(layer), input.cache->source_of[i]);
    } else {
      kv = cache.self(layer, input.cache->slot_of[i]).row_range(0, past + n);
      copy_rows(rows.sequence(saved.k, i), part_of(kv.row_range(past, past + n), 0, d));
      copy_rows(rows.sequence(saved.v, i), part_of(kv.row_range(past, past + n), 1, d));
    }
    for (int r = 0; r < n; ++r) {
      const Mat<T> seen = kv.row_range(0, visible_keys(causal(), r, n, kv.rows));
      const Mat<T> weights{all_weights.row(worker), n_heads, seen.rows};
      batch_invariant_attention(saved.q.row(rows.begin[i] + r), part_of(seen, 0, d),
                                part_of(seen, 1, d), static_cast<T>(scale()), ablation.uniform,
                                weights, saved.context.row(rows.begin[i] + r));
    }
  };
  if (pass.pool && rows.sequences() > 1)
    pass.pool->run(rows.sequences(), attend_sequence);
  else
    for (int i = 0; i < rows.sequences(); ++i) attend_sequence(i, 0);
}

template <class T>
void Attention::cache_memory(Pass<T>& pass, In<T> memory, Cache<T>& cache) const {
  WorkspaceScope scope(pass.workspace);
  copy_rows(key_value().forward(pass, memory), cache.cross(layer));
}

#define HEED_INSTANTIATE(T)                                                         \
  template Mat<T> Attention::forward(Pass<T>&, In<T>, const AttentionInput<T>&,     \
                                     AttentionSaved<T>&) const;                     \
  template void Attention::backward(Pass<T>&, In<T>, const AttentionInput<T>&,      \
                                    const AttentionSaved<T>&, In<T>, Mat<T>) const; \
  template void Attention::cache_memory(Pass<T>&, In<T>, Cache<T>&) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
