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
  // memory = encoder(E_s source),  hidden = decoder(E_t target, memory)
  template <class T>
  Mat<T> forward(Pass<T>& pass, const Batch& batch, TransformerSaved<T>& saved) const {
    if (has_encoder()) saved.memory = encode(pass, batch.source, saved.encoder);
    if (!has_decoder()) return saved.memory;
    return decode(pass, decoder_input(batch, saved), saved.decoder);
  }
  // d [rows, d] is the gradient of the hidden rows; overwritten.
  // The decoder turns d into the gradient of its embeddings and accumulates dmemory. The encoder
  // turns dmemory into the gradient of its embeddings.
  template <class T>
  void backward(Pass<T>& pass, const Batch& batch, const TransformerSaved<T>& saved,
                Mat<T> d) const {
    Mat<T> dmemory = d;
    if (has_decoder()) {
      AttentionInput<T> input = decoder_input(batch, saved);
      if (has_encoder()) input.dmemory = dmemory = pass.zeros(saved.memory.rows, saved.memory.cols);
      decoder.backward(pass, d, input, saved.decoder);
    }
    if (has_encoder()) encoder.backward(pass, dmemory, {.rows = &batch.source}, saved.encoder);
    if (has_decoder()) embeddings.target->backward(pass, batch.target, d);
    if (has_encoder()) embeddings.source->backward(pass, batch.source, dmemory);
  }

  // The parts of forward, for decoding with a cache.
  template <class T>
  Mat<T> encode(Pass<T>& pass, const Packed& source, StackSaved<T>& saved) const {
    return encoder.forward(pass, embeddings.source->forward(pass, source), {.rows = &source},
                           saved);
  }
  template <class T>
  void cache_memory(Pass<T>& pass, In<T> memory, Cache<T>& cache) const {
    cache.resize_cross(memory.rows);
    for (const Block& block : decoder.blocks)
      block.cross_attention->cache_memory(pass, memory, cache);
  }
  // input.rows: the target rows.
  template <class T>
  Mat<T> decode(Pass<T>& pass, const AttentionInput<T>& input, StackSaved<T>& saved) const {
    return decoder.forward(pass, embeddings.target->forward(pass, *input.rows), input, saved);
  }

 private:
  template <class T>
  static AttentionInput<T> decoder_input(const Batch& batch, const TransformerSaved<T>& saved) {
    return {.rows = &batch.target, .memory = saved.memory, .memory_rows = &batch.source};
  }
};

// One micro-batch of training: forward, loss, backward. Adds to the gradients.
template <class T>
LossSums train_micro_batch(const Transformer& model, Pass<T>& pass, const Batch& batch,
                           const LossOptions& options, TransformerSaved<T>& saved) {
  WorkspaceScope scope(pass.workspace);
  const Mat<T> hidden = model.forward(pass, batch, saved);
  const Mat<T> d = pass.matrix(hidden.rows, hidden.cols);
  const LossSums sums = loss_backward(pass, model.output, hidden, batch.labels, options, d);
  model.backward(pass, batch, saved, d);
  return sums;
}
// Its floating-point operations: 2 for every multiply-add of a matrix product, including attention
// (causal counted in full) and output layer. A training step is 3 times the forward pass.
double training_flops(const Transformer& model, const Batch& batch);

}  // namespace heed
