// The whole model: embeddings, encoder, decoder, output layer. Zero layers on one side leaves the
// side out: decoder-only is a GPT, encoder-only a BERT. It owns names and shapes, no numbers, so
// one object is shared by all threads and serves float and double.
//
//   source ids -> embedding -> encoder -> memory
//   target ids -> embedding -> decoder (reads memory) -> hidden rows -> output layer -> logits
#pragma once

#include <optional>
#include <vector>

#include "nn/embedding.h"
#include "nn/stack.h"

namespace heed {

// Sums over label tokens, in nats.
struct LossSums {
  double smoothed = 0.0;  // what is minimised
  double plain = 0.0;     // what is reported
  std::int64_t tokens = 0;
  std::int64_t correct = 0;
  LossSums& operator+=(const LossSums& o);
};

struct LossOptions {
  double smoothing = 0.0;
  double scale = 1.0;  // of the gradient: 1 / label tokens of the whole step
};

template <class T>
struct TransformerSaved {
  StackSaved<T> encoder, decoder;
  Mat<T> memory;  // [source rows, d]
};

// The tables of both sides; they share one Param where they are one.
struct Embeddings {
  std::optional<Embedding> source, target;
  Embeddings(ParamTable& table, const ModelConfig& config, int source_vocab, int target_vocab);
};

struct Transformer {
  ModelConfig config;
  int source_vocab, target_vocab;
  ParamTable table;
  Embeddings embeddings;
  Stack encoder, decoder;
  Param output;  // [vocab of the output side, d]

  // The vocabularies are one and the same for one-sided models and with tie all.
  Transformer(const ModelConfig& config, int source_vocab, int target_vocab);

  bool has_encoder() const { return !encoder.blocks.empty(); }
  bool has_decoder() const { return !decoder.blocks.empty(); }
  const Rows& output_rows(const Batch& batch) const {
    return has_decoder() ? batch.target : batch.source;
  }

  // Hidden rows of the output side [rows, d].
  template <class T>
  Mat<T> forward(Pass<T>& pass, const Batch& batch, TransformerSaved<T>& saved) const;
  // d [rows, d] is the gradient of the hidden rows; overwritten.
  template <class T>
  void backward(Pass<T>& pass, const Batch& batch, const TransformerSaved<T>& saved,
                Mat<T> d) const;

  // The two halves of forward, for decoding with a cache.
  template <class T>
  Mat<T> encode(Pass<T>& pass, const Rows& source, StackSaved<T>& saved) const;
  template <class T>
  void cache_memory(Pass<T>& pass, Mat<const T> memory, Cache<T>& cache) const;
  template <class T>
  Mat<T> decode(Pass<T>& pass, const Rows& target, const AttentionInput<T>& input,
                StackSaved<T>& saved) const;

  // [rows, d] -> [rows, vocab]
  template <class T>
  Mat<T> logits(Pass<T>& pass, Mat<const T> hidden) const;
  // The same into y [rows, target_vocab].
  template <class T>
  void logits_into(Pass<T>& pass, Mat<const T> hidden, Mat<T> y) const;

  // Cross-entropy of the labelled rows, in chunks of rows, so that the logits of a whole batch are
  // never held. With dhidden [rows, d] (overwritten; empty: no gradient) also the gradient, added
  // to the output layer's. `log_probs`, if given, gets log p(label) of every row (0 where
  // unlabelled).
  template <class T>
  LossSums loss(Pass<T>& pass, Mat<const T> hidden, const std::vector<int>& labels,
                const LossOptions& options, Mat<T> dhidden,
                std::vector<double>* log_probs = nullptr) const;
};

// One micro-batch of training: forward, loss, backward. Gradients are added.
template <class T>
LossSums train_micro_batch(const Transformer& model, Pass<T>& pass, const Batch& batch,
                           const LossOptions& options, TransformerSaved<T>& saved);

}  // namespace heed
