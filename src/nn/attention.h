// Multi-head attention (Vaswani et al. 2017, section 3.2), self- and cross-, causal or not.
//
//   [Q K V] = x [W_q W_k W_v]ᵀ + b
//   P_h = softmax(Q_h K_hᵀ / sqrt(d_head))
//   y = [P_1 V_1 .. P_H V_H] W_oᵀ + b_o
//
// With fewer key/value heads, neighbouring heads share them: head h of H reads K and V of head
// floor(h n_kv_heads / H) (Ainslie et al. 2023, "GQA"). With QK-norm, every Q_h and K_h is
// first divided by its root mean square, with a gain (Henry et al. 2020; Dehghani et al. 2023).
//
// One product gives Q, K and V. In cross-attention Q comes from x, K and V from the memory (the
// output of the encoder). There is a P_h for every sequence and head. Causal: query i of n over m
// keys sees the first m - n + i + 1 of them.
//
// Only attention knows about sequences; everything else works on rows. In decoding, keys and values
// of earlier tokens come from a Cache, and the same code handles the prompt and single steps. Only
// the kernel of a head differs (attention_head.h says why).
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/std_names.h"
#include "math/row_ops.h"
#include "nn/linear.h"
#include "nn/norm.h"
#include "nn/param.h"

namespace heed {

enum class AttentionKind { encoder_self, decoder_self, cross };
inline constexpr array kAttentionKinds = {AttentionKind::encoder_self, AttentionKind::decoder_self,
                                          AttentionKind::cross};
const char* attention_name(AttentionKind kind);  // "encoder", "decoder", "cross"

// Does a stack with this kind of self-attention also have cross-attention?
inline bool has_cross_attention(AttentionKind self_kind, const ModelConfig& config) {
  return self_kind == AttentionKind::decoder_self && config.encoder_layers > 0;
}

// The keys and values of earlier tokens during decoding, written in place. Room for `capacity`
// tokens per slot is allocated once. The number of tokens in a slot is not stored here: it is the
// position of the first new row of the sequence.
template <class T>
class Cache {
 public:
  // `width`: size of all keys of a token (kv_width).
  Cache(int layers, int width, int slots, int capacity)
      : layers_(layers),
        width_(width),
        slots_(slots),
        capacity_(capacity),
        self_(size_t{2} * layers * slots * capacity * width) {}

  int capacity() const { return capacity_; }
  // [capacity, 2 width]: keys, then values, of self-attention.
  Mat<T> self(int layer, int slot) {
    assert(layer < layers_ && slot < slots_);
    const size_t index = size_t(layer) * slots_ + slot;
    return {self_.data() + index * capacity_ * 2 * width_, capacity_, 2 * width_};
  }
  // [memory rows, 2 width]: keys, then values, of cross-attention. Empty until resize_cross().
  Mat<T> cross(int layer) {
    return {cross_.data() + size_t(layer) * cross_rows_ * 2 * width_, cross_rows_, 2 * width_};
  }
  void resize_cross(int rows) {
    cross_rows_ = rows;
    cross_.resize(size_t{2} * layers_ * rows * width_);
  }
  // Copies the first `tokens` rows of every layer from one slot to another.
  void copy(int from, int to, int tokens) {
    for (int layer = 0; layer < layers_; ++layer) {
      const Mat<T> a = self(layer, from), b = self(layer, to);
      std::copy(a.data, a.row(tokens), b.data);
    }
  }

 private:
  int layers_, width_, slots_, capacity_;
  int cross_rows_ = 0;
  // Its pages take memory only once they are written to, and most sequences end long before the
  // capacity.
  ParamVec<T> self_;
  vector<T> cross_;
};

// The part of a cache that a pass uses.
template <class T>
struct CacheSlots {
  Cache<T>* cache = nullptr;
  vector<int> slot_of;    // the slot of sequence i of the pass
  vector<int> source_of;  // the sequence of the memory that it reads
};

// The inputs of attention besides x, and the gradient of the memory.
template <class T>
struct AttentionInput {
  const Packed* rows = nullptr;          // of x
  Mat<const T> memory{};                 // cross: [memory rows, d_model], the encoder's output
  const Packed* memory_rows = nullptr;   // cross
  Mat<T> dmemory{};                      // cross: backward adds to it
  Angles<T> rotary{};                    // [.., d_head] cos, sin pairs; empty: not rotary
  const CacheSlots<T>* cache = nullptr;  // decoding
};

template <class T>
struct AttentionSaved {
  Mat<T> q;     // [rows, d_model], after QK-norm and rotary positions
  Mat<T> k, v;  // [key rows, d_kv], the same
  NormSaved<T> q_norm, k_norm;
  span<AttentionHead<T>> heads;  // of all sequences, one after the other, with their P_h
  Mat<T> context;                // [rows, d_model], the input of W_o
};

struct Attention {
  AttentionKind kind;
  int layer, n_heads, n_kv_heads, d_model;
  AttentionConfig ablation;
  double dropout;
  uint64_t dropout_id;  // identifies its dropout draws
  Linear in;            // [d + 2 d_kv, d]: q, k, v
  optional<Norm> q_norm, k_norm;
  Linear out;  // [d, d]

  Attention(ParamTable& table, const string& name, AttentionKind kind, int layer,
            const ModelConfig& config, const LayerInit& init);

  int d_head() const { return d_model / n_heads; }
  int d_kv() const { return n_kv_heads * d_head(); }
  // The key/value head that head h reads.
  int kv_head(int h) const { return h * n_kv_heads / n_heads; }
  bool causal() const { return kind == AttentionKind::decoder_self; }
  double scale() const;  // of the scores: 1 / sqrt(d_head)

  // x [rows, d] -> [rows, d]
  template <class T>
  Mat<T> forward(Pass<T>& pass, In<T> x, const AttentionInput<T>& input,
                 AttentionSaved<T>& saved) const;
  // Adds to dx and (cross) to input.dmemory.
  template <class T>
  void backward(Pass<T>& pass, In<T> x, const AttentionInput<T>& input,
                const AttentionSaved<T>& saved, In<T> dy, Mat<T> dx) const;
  // Decoding: writes keys and values of the memory to the cache, once per source.
  template <class T>
  void cache_memory(Pass<T>& pass, In<T> memory, Cache<T>& cache) const;

 private:
  bool cross() const { return kind == AttentionKind::cross; }
  Linear query() const { return in.slice(0, d_model); }
  Linear key_value() const { return in.slice(d_model, 2 * d_kv()); }
  // Rotary positions: rotates queries and keys, forward (+1) or back (-1).
  template <class T>
  void rotate_both(Mat<T> q, Mat<T> k, const AttentionInput<T>& input, T direction) const;
  template <class T>
  void attend(Pass<T>& pass, const AttentionInput<T>& input, AttentionSaved<T>& saved) const;
  template <class T>
  void attend_cached(Pass<T>& pass, const AttentionInput<T>& input, AttentionSaved<T>& saved) const;
};

}  // namespace heed
