// The whole model: embeddings, encoder, decoder, output layer. A side with zero layers does not
// exist: decoder-only is a GPT, encoder-only a BERT. The model owns names and shapes but no
// values, so all threads share one object, for float and double.
//
//   source ids -> embedding -> encoder -> memory
//   target ids -> embedding -> decoder (reads memory) -> hidden rows -> output layer -> logits
#pragma once

#include <optional>

#include "base/std_names.h"
#include "nn/block.h"
#include "nn/embedding.h"
#include "nn/loss.h"

namespace heed {

template <class T>
struct TransformerSaved {
  StackSaved<T> encoder, decoder;
  Mat<T> memory;  // [source rows, d]
};

// The embeddings of both sides; they share one Param if their tables are tied.
struct Embeddings {
  optional<Embedding> source, target;
  Embeddings(ParamTable& table, const ModelConfig& config, int source_vocab, int target_vocab);
};

struct Transformer {
  ModelConfig config;
  int source_vocab, target_vocab;
  ParamTable table;
  Embeddings embeddings;
  Stack encoder, decoder;
  Linear output;  // [vocab of the output side, d], without a bias: hidden rows -> logits

  // One-sided models and tie "all" have a single vocabulary: both sizes are equal.
  Transformer(const ModelConfig& config, int source_vocab, int target_vocab);

  bool has_encoder() const { return !encoder.blocks.empty(); }
  bool has_decoder() const { return !decoder.blocks.empty(); }

  // Hidden rows of the output side [rows, d].
  template <class T>
  Mat<T> forward(Pass<T>& pass, const Batch& batch, TransformerSaved<T>& saved) const;
  // d [rows, d] is the gradient of the hidden rows; overwritten.
  template <class T>
  void backward(Pass<T>& pass, const Batch& batch, const TransformerSaved<T>& saved,
                Mat<T> d) const;

  // The parts of forward, for decoding with a cache.
  template <class T>
  Mat<T> encode(Pass<T>& pass, const Packed& source, StackSaved<T>& saved) const;
  template <class T>
  void cache_memory(Pass<T>& pass, In<T> memory, Cache<T>& cache) const;
  // input.rows: the target rows.
  template <class T>
  Mat<T> decode(Pass<T>& pass, const AttentionInput<T>& input, StackSaved<T>& saved) const;
};

// One micro-batch of training: forward, loss, backward. Adds to the gradients.
template <class T>
LossSums train_micro_batch(const Transformer& model, Pass<T>& pass, const Batch& batch,
                           const LossOptions& options, TransformerSaved<T>& saved);
// Its floating-point operations: 2 for every multiply-add of a matrix product, including attention
// (causal counted in full) and output layer. A training step is 3 times the forward pass.
double training_flops(const Transformer& model, const Batch& batch);

}  // namespace heed
