#include "nn/attention.h"

#include <cmath>

#include "base/noise.h"
#include "math/rotary.h"
#include "math/row_kernel.h"
#include "math/rows.h"
#include "nn/attention_head.h"

namespace heed {
namespace {

InitRule ablated(InitRule rule, Projection projection) {
  if (projection == Projection::learned) return rule;
  if (projection == Projection::identity) rule.fill = Fill::identity;
  rule.frozen = true;
  return rule;
}

}  // namespace

const char* attention_name(AttentionKind kind) {
  constexpr const char* kNames[] = {"encoder", "decoder", "cross"};
  return kNames[static_cast<std::size_t>(kind)];
}

Attention::Attention(ParamTable& table, const std::string& name, AttentionKind kind_, int layer_,
                     const ModelConfig& config, const InitRule& init, const InitRule& out_init)
    : kind(kind_),
      layer(layer_),
      n_heads(config.n_heads),
      d_model(config.d_model),
      ablation(kind_ == AttentionKind::encoder_self   ? config.attention.encoder_self
               : kind_ == AttentionKind::decoder_self ? config.attention.decoder_self
                                                      : config.attention.cross),
      dropout(config.attention_dropout),
      site(name_key(name)) {
  // The three weights, then the three biases, so that [q k v] is one matrix and one vector.
  const int d = d_model;
  const auto weight = [&](const char* part, Projection projection) {
    const InitRule rule = ablated(init, projection);
    return table.add_matrix(name + part + ".weight", d, d, rule.fill, rule.scale_for(d, d),
                            rule.frozen);
  };
  in.weight = weight(".q_proj", ablation.query);
  weight(".k_proj", ablation.key);
  weight(".v_proj", ablation.value);
  in.weight.rows = 3 * d;
  in.bias = table.add_vector(name + ".q_proj.bias", d, Fill::zeros);
  table.add_vector(name + ".k_proj.bias", d, Fill::zeros);
  table.add_vector(name + ".v_proj.bias", d, Fill::zeros);
  in.bias.cols = 3 * d;
  out = Linear(table, name + ".out_proj", d, d, out_init);
}

namespace {

// Walks the (sequence, head) pairs in a fixed order with windows on everything packed.
// body(head, rows of the queries, column of the head)
template <class T, class Body>
void for_heads(const Attention& a, const Rows& rows, const Rows& key_rows,
               const AttentionSaved<T>& s, Body&& body) {
  const int d = a.d_head();
  const T scale =
      a.ablation.scaled ? static_cast<T>(1.0 / std::sqrt(static_cast<double>(d))) : T{1};
  T* p = s.weights;
  for (int i = 0; i < rows.sequences(); ++i) {
    const int n = rows.length(i), m = key_rows.length(i);
    for (int h = 0; h < a.n_heads; ++h) {
      const auto window = [&](Mat<T> x, const Rows& r) {
        return x.row_range(r.begin[i], r.begin[i + 1]).col_range(h * d, (h + 1) * d);
      };
      AttentionHead<T> head{
          window(s.q, rows),
          window(s.k, key_rows),
          window(s.v, key_rows),
          {p, n, padded_keys(m)},
          scale,
          a.causal(),
          a.ablation.uniform,
          rows.dropout(a.dropout, combine(a.site, static_cast<std::uint64_t>(h)), rows.begin[i])};
      body(head, i, h);
      p += head.p.rows * static_cast<std::ptrdiff_t>(head.p.cols);
    }
  }
}

std::size_t weights_size(int n_heads, const Rows& rows, const Rows& key_rows) {
  std::size_t sum = 0;
  for (int i = 0; i < rows.sequences(); ++i)
    sum += static_cast<std::size_t>(rows.length(i)) * padded_keys(key_rows.length(i));
  return sum * n_heads;
}

}  // namespace

template <class T>
Mat<T> Attention::forward(Pass<T>& pass, Mat<const T> x, const Rows& rows,
                          const AttentionInput<T>& input, AttentionSaved<T>& saved) const {
  const int d = d_model;
  const bool cross = kind == AttentionKind::cross;
  if (cross) {
    saved.q = in.slice(0, d).forward(pass, x);
    if (!input.use) {
      const Mat<T> kv = in.slice(d, 2 * d).forward(pass, input.memory);
      saved.k = kv.col_range(0, d);
      saved.v = kv.col_range(d, 2 * d);
    }
  } else {
    const Mat<T> qkv = in.forward(pass, x);
    saved.q = qkv.col_range(0, d);
    saved.k = qkv.col_range(d, 2 * d);
    saved.v = qkv.col_range(2 * d, 3 * d);
  }
  {
    Timed timed(pass.profile, Work::attention);
    if (turns(input)) {
      rotate(saved.q, n_heads, input.rotary, rows.positions.data(), T{1});
      rotate(saved.k, n_heads, input.rotary, rows.positions.data(), T{1});
    }
    saved.context = pass.workspace.template rows<T>(x.rows, d);
    if (input.use) {
      attend_cached(pass, rows, input, saved);
    } else {
      const Rows& key_rows = cross ? *input.memory_rows : rows;
      saved.weights = pass.workspace.template numbers<T>(weights_size(n_heads, rows, key_rows));
      for_heads<T>(*this, rows, key_rows, saved, [&](const AttentionHead<T>& head, int i, int h) {
        const Mat<T> o = saved.context.row_range(rows.begin[i], rows.begin[i + 1])
                             .col_range(h * d_head(), (h + 1) * d_head());
        head_forward(head, o, pass.workspace);
        if (pass.probe)
          pass.probe->see({kind, layer, h, i, head.p.col_range(0, head.k.rows), head.v});
      });
    }
  }
  return out.forward(pass, Mat<const T>(saved.context));
}

template <class T>
void Attention::backward(Pass<T>& pass, Mat<const T> x, const Rows& rows,
                         const AttentionInput<T>& input, const AttentionSaved<T>& saved,
                         Mat<const T> dy, Mat<T> dx, Mat<T> dmemory) const {
  WorkspaceScope scope(pass.workspace);
  const int d = d_model;
  const bool cross = kind == AttentionKind::cross;
  const Rows& key_rows = cross ? *input.memory_rows : rows;

  const Mat<T> dcontext = pass.workspace.template zeros<T>(x.rows, d);
  out.backward(pass, Mat<const T>(saved.context), dy, dcontext);

  Mat<T> dqkv, dq, dkv;  // self: one [rows, 3 d]; cross: [rows, d] and [memory rows, 2 d]
  {
    Timed timed(pass.profile, Work::attention);
    if (cross) {
      dq = pass.workspace.template zeros<T>(x.rows, d);
      dkv = pass.workspace.template zeros<T>(key_rows.count(), 2 * d);
    } else {
      dqkv = pass.workspace.template zeros<T>(x.rows, 3 * d);
      dq = dqkv.col_range(0, d);
      dkv = dqkv.col_range(d, 3 * d);
    }
    const Mat<T> dk = dkv.col_range(0, d), dv = dkv.col_range(d, 2 * d);
    for_heads<T>(*this, rows, key_rows, saved, [&](const AttentionHead<T>& head, int i, int h) {
      const auto window = [&](Mat<T> m, const Rows& r) {
        return m.row_range(r.begin[i], r.begin[i + 1]).col_range(h * d_head(), (h + 1) * d_head());
      };
      head_backward<T>(head, window(dcontext, rows), window(dq, rows), window(dk, key_rows),
                       window(dv, key_rows), pass.workspace);
    });
    if (turns(input)) {
      rotate(dq, n_heads, input.rotary, rows.positions.data(), T{-1});
      rotate(dk, n_heads, input.rotary, rows.positions.data(), T{-1});
    }
  }
  if (cross) {
    in.slice(0, d).backward(pass, x, Mat<const T>(dq), dx);
    in.slice(d, 2 * d).backward(pass, input.memory, Mat<const T>(dkv), dmemory);
  } else {
    in.backward(pass, x, Mat<const T>(dqkv), dx);
  }
}

// Row by row against the cache; the new keys and values are written to it first.
template <class T>
void Attention::attend_cached(Pass<T>& pass, const Rows& rows, const AttentionInput<T>& input,
                              AttentionSaved<T>& saved) const {
  const int d = d_model;
  const bool cross = kind == AttentionKind::cross;
  const T scale =
      ablation.scaled ? static_cast<T>(1.0 / std::sqrt(static_cast<double>(d_head()))) : T{1};
  Cache<T>& cache = *input.use->cache;
  const int room = cross ? cache.cross(layer).rows : cache.capacity();
  const int workers = pass.pool ? pass.pool->threads() : 1;
  const Mat<T> all_weights = pass.workspace.template rows<T>(workers, n_heads * room);
  const auto attend_sequence = [&](int i, int worker) {
    const int begin = rows.begin[i], n = rows.length(i), past = rows.positions[begin];
    Mat<T> kv;
    if (cross) {
      const int source = input.use->source_of[i];
      kv = cache.cross(layer).row_range(input.memory_rows->begin[source],
                                        input.memory_rows->begin[source + 1]);
    } else {
      kv = cache.self(layer, input.use->slot_of[i]).row_range(0, past + n);
      copy_rows<T>(saved.k.row_range(begin, begin + n),
                   kv.row_range(past, past + n).col_range(0, d));
      copy_rows<T>(saved.v.row_range(begin, begin + n),
                   kv.row_range(past, past + n).col_range(d, 2 * d));
    }
    for (int r = 0; r < n; ++r) {
      const Mat<T> seen = kv.row_range(0, causal() ? past + r + 1 : kv.rows);
      const Mat<T> weights{all_weights.row(worker), n_heads, seen.rows};
      exact_attention<T>(saved.q.row(begin + r), seen.col_range(0, d), seen.col_range(d, 2 * d),
                         scale, ablation.uniform, weights, saved.context.row(begin + r));
    }
  };
  if (pass.pool && rows.sequences() > 1) {
    pass.pool->run(rows.sequences(), attend_sequence);
  } else {
    for (int i = 0; i < rows.sequences(); ++i) attend_sequence(i, 0);
  }
}

template <class T>
void Attention::cache_memory(Pass<T>& pass, Mat<const T> memory, Cache<T>& cache) const {
  WorkspaceScope scope(pass.workspace);
  const Mat<T> kv = in.slice(d_model, 2 * d_model).forward(pass, memory);
  copy_rows<T>(kv, cache.cross(layer));
}

#define HEED_INSTANTIATE(T)                                                                        \
  template Mat<T> Attention::forward(Pass<T>&, Mat<const T>, const Rows&,                          \
                                     const AttentionInput<T>&, AttentionSaved<T>&) const;          \
  template void Attention::backward(Pass<T>&, Mat<const T>, const Rows&, const AttentionInput<T>&, \
                                    const AttentionSaved<T>&, Mat<const T>, Mat<T>, Mat<T>) const; \
  template void Attention::cache_memory(Pass<T>&, Mat<const T>, Cache<T>&) const;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
