#include "nn/transformer.h"

#include <algorithm>
#include <cmath>

#include "math/blas.h"
#include "math/row_kernel.h"
#include "math/rows.h"
#include "math/softmax.h"

namespace heed {
namespace {

Param embedding_table(ParamTable& table, const std::string& name, int vocab,
                      const ModelConfig& config) {
  // Rows of variance 1 / d, so that sqrt(d) times a row, and logits of a tied output, start near 1.
  const double deviation = config.init == Init::gpt2 ? 0.02 : 1.0 / std::sqrt(config.d_model);
  return table.add_matrix(name, vocab, config.d_model, Fill::normal, deviation);
}

}  // namespace

LossSums& LossSums::operator+=(const LossSums& o) {
  smoothed += o.smoothed;
  plain += o.plain;
  tokens += o.tokens;
  correct += o.correct;
  return *this;
}

Embeddings::Embeddings(ParamTable& table, const ModelConfig& config, int source_vocab,
                       int target_vocab) {
  const bool has_source = config.encoder_layers > 0, has_target = config.decoder_layers > 0;
  const bool both = has_source && has_target;
  Param s, t;
  if (both && config.tie != Tie::all) {
    s = embedding_table(table, "source_embed.weight", source_vocab, config);
    t = embedding_table(table, "target_embed.weight", target_vocab, config);
  } else {
    s = t = embedding_table(table, "embed_tokens.weight", target_vocab, config);
  }
  if (has_source) source.emplace(table, s, both ? "source_positions" : "positions", config);
  if (has_target) target.emplace(table, t, both ? "target_positions" : "positions", config);
}

Transformer::Transformer(const ModelConfig& config_, int source_vocab_, int target_vocab_)
    : config(config_),
      source_vocab(source_vocab_),
      target_vocab(target_vocab_),
      embeddings(table, config, source_vocab, target_vocab),
      encoder(table, "encoder", config.encoder_layers, AttentionKind::encoder_self, false, config),
      decoder(table, "decoder", config.decoder_layers, AttentionKind::decoder_self,
              config.encoder_layers > 0, config),
      output(config.tie == Tie::none
                 ? embedding_table(table, "lm_head.weight", target_vocab, config)
                 : (embeddings.target ? embeddings.target : embeddings.source)->tokens) {}

template <class T>
Mat<T> Transformer::encode(Pass<T>& pass, const Rows& source, StackSaved<T>& saved) const {
  return encoder.forward(pass, embeddings.source->forward(pass, source), source,
                         AttentionInput<T>{}, saved);
}

template <class T>
Mat<T> Transformer::decode(Pass<T>& pass, const Rows& target, const AttentionInput<T>& input,
                           StackSaved<T>& saved) const {
  return decoder.forward(pass, embeddings.target->forward(pass, target), target, input, saved);
}

template <class T>
Mat<T> Transformer::forward(Pass<T>& pass, const Batch& batch, TransformerSaved<T>& saved) const {
  if (has_encoder()) saved.memory = encode(pass, batch.source, saved.encoder);
  if (!has_decoder()) return saved.memory;
  AttentionInput<T> input;
  input.memory = saved.memory;
  input.memory_rows = &batch.source;
  return decode(pass, batch.target, input, saved.decoder);
}

template <class T>
void Transformer::backward(Pass<T>& pass, const Batch& batch, const TransformerSaved<T>& saved,
                           Mat<T> d) const {
  Mat<T> dmemory = d;
  if (has_decoder()) {
    AttentionInput<T> input;
    input.memory = saved.memory;
    input.memory_rows = &batch.source;
    if (has_encoder())
      dmemory = pass.workspace.template zeros<T>(saved.memory.rows, saved.memory.cols);
    decoder.backward(pass, d, batch.target, input, saved.decoder, dmemory);
  }
  if (has_encoder())
    encoder.backward(pass, dmemory, batch.source, AttentionInput<T>{}, saved.encoder, Mat<T>());
  if (has_decoder()) embeddings.target->backward(pass, batch.target, d);
  if (has_encoder()) embeddings.source->backward(pass, batch.source, dmemory);
}

template <class T>
void Transformer::cache_memory(Pass<T>& pass, Mat<const T> memory, Cache<T>& cache) const {
  cache.resize_cross(memory.rows);
  for (const Block& block : decoder.blocks)
    block.cross_attention->cache_memory(pass, memory, cache);
}

template <class T>
Mat<T> Transformer::logits(Pass<T>& pass, Mat<const T> hidden) const {
  const Mat<T> y = pass.workspace.template rows<T>(hidden.rows, output.rows);
  logits_into(pass, hidden, y);
  return y;
}

template <class T>
void Transformer::logits_into(Pass<T>& pass, Mat<const T> hidden, Mat<T> y) const {
  Timed timed(pass.profile, Work::gemm_forward);
  if (pass.exact_rows) {
    exact_linear(hidden, pass[output], Mat<const T>(), y, pass.pool);
  } else {
    gemm(T{1}, plain(hidden), transposed(pass[output]), T{0}, y);
  }
}

namespace {

// Rows of logits held at a time: enough for a good product, few enough for the cache.
constexpr int kLossRows = 256;

}  // namespace

// logits = h Eᵀ;  dh = dlogits E,  dE += dlogitsᵀ h
template <class T>
LossSums Transformer::loss(Pass<T>& pass, Mat<const T> hidden, const std::vector<int>& labels,
                           const LossOptions& options, Mat<T> dhidden,
                           std::vector<double>* log_probs) const {
  const bool backward = !dhidden.empty();
  LossSums sums;
  if (log_probs) log_probs->assign(hidden.rows, 0.0);
  if (backward) set_zero(dhidden);
  int chunk[kLossRows];  // labelled rows
  for (int next = 0; next < hidden.rows;) {
    int n = 0;
    for (; next < hidden.rows && n < kLossRows; ++next)
      if (labels[next] >= 0) chunk[n++] = next;
    if (n == 0) break;
    WorkspaceScope scope(pass.workspace);
    // Mostly the rows lie side by side; where most are not scored (masked words) they are gathered.
    const bool dense = chunk[n - 1] - chunk[0] == n - 1;
    Mat<T> gathered;
    if (!dense) {
      gathered = pass.workspace.template rows<T>(n, hidden.cols);
      for (int i = 0; i < n; ++i)
        copy_rows(hidden.row_range(chunk[i], chunk[i] + 1), gathered.row_range(i, i + 1));
    }
    const Mat<const T> h =
        dense ? hidden.row_range(chunk[0], chunk[0] + n) : Mat<const T>(gathered);
    const Mat<T> l = logits(pass, h);
    {
      Timed timed(pass.profile, Work::loss);
      for (int i = 0; i < n; ++i) {
        const int label = labels[chunk[i]];
        const RowLoss x =
            backward ? cross_entropy_backward<T>(l.row(i), l.cols, label, options.smoothing,
                                                 static_cast<T>(options.scale))
                     : cross_entropy<T>(l.row(i), l.cols, label, options.smoothing);
        sums += {x.smoothed, x.plain, 1, x.correct ? 1 : 0};
        if (log_probs) (*log_probs)[chunk[i]] = -x.plain;
      }
    }
    if (!backward) continue;
    {
      Timed timed(pass.profile, Work::gemm_weight_gradient);
      gemm(T{1}, transposed(l), plain(h), T{1}, pass.gradient(output));
    }
    Timed timed(pass.profile, Work::gemm_input_gradient);
    const Mat<T> dh = dense ? dhidden.row_range(chunk[0], chunk[0] + n) : gathered;
    gemm(T{1}, plain(l), plain(pass[output]), T{0}, dh);
    if (!dense)
      for (int i = 0; i < n; ++i)
        copy_rows<T>(dh.row_range(i, i + 1), dhidden.row_range(chunk[i], chunk[i] + 1));
  }
  return sums;
}

template <class T>
LossSums train_micro_batch(const Transformer& model, Pass<T>& pass, const Batch& batch,
                           const LossOptions& options, TransformerSaved<T>& saved) {
  WorkspaceScope scope(pass.workspace);
  const Mat<T> hidden = model.forward(pass, batch, saved);
  const Mat<T> d = pass.workspace.template rows<T>(hidden.rows, hidden.cols);
  const LossSums sums = model.loss(pass, Mat<const T>(hidden), batch.labels, options, d);
  model.backward(pass, batch, saved, d);
  return sums;
}

#define HEED_INSTANTIATE(T)                                                                       \
  template Mat<T> Transformer::forward(Pass<T>&, const Batch&, TransformerSaved<T>&) const;       \
  template void Transformer::backward(Pass<T>&, const Batch&, const TransformerSaved<T>&, Mat<T>) \
      const;                                                                                      \
  template Mat<T> Transformer::encode(Pass<T>&, const Rows&, StackSaved<T>&) const;               \
  template void Transformer::cache_memory(Pass<T>&, Mat<const T>, Cache<T>&) const;               \
  template Mat<T> Transformer::decode(Pass<T>&, const Rows&, const AttentionInput<T>&,            \
                                      StackSaved<T>&) const;                                      \
  template Mat<T> Transformer::logits(Pass<T>&, Mat<const T>) const;                              \
  template void Transformer::logits_into(Pass<T>&, Mat<const T>, Mat<T>) const;                   \
  template LossSums Transformer::loss(Pass<T>&, Mat<const T>, const std::vector<int>&,            \
                                      const LossOptions&, Mat<T>, std::vector<double>*) const;    \
  template LossSums train_micro_batch(const Transformer&, Pass<T>&, const Batch&,                 \
                                      const LossOptions&, TransformerSaved<T>&);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed
