#include "decode/incremental_decoder.h"

#include <algorithm>
#include <cassert>

#include "base/std_names.h"
#include "math/row_ops.h"

namespace heed {
namespace {

// With at least this many slots per thread, the slots are divided among threads. With fewer, each
// thread would read all the weights for a few rows.
constexpr int kRowsToShare = 4;

// Row by row, on this thread alone or on all of them.
Pass<float> row_pass(const ParamVec<float>& values, Workspace& workspace,
                     const RowProducts<float>& products) {
  return {.values = values, .workspace = workspace, .forward_only = true, .products = &products};
}

// The most positions of a decoder that a source takes: none if there is an encoder.
int longest_joined(const Transformer& model, Sources sources) {
  size_t longest = 0;
  for (const auto& s : sources) longest = max(longest, s.size());
  return model.has_encoder() ? 0 : int(longest);
}

}  // namespace

int slots_at_a_time(const Predictor& predictor, int capacity, Sources sources, int most) {
  const double tokens = double(capacity) + longest_joined(predictor.model, sources);
  return clamp(64e6 / (predictor.cache_width() * tokens), 1.0, double(most));
}

int most_of_target(const Transformer& model, const vector<int>& source) {
  return most_positions(model.config) - longest_joined(model, {&source, 1});
}

IncrementalDecoder::IncrementalDecoder(const Predictor& predictor, Pool& pool, int slots,
                                       int capacity)
    : model_(predictor.model),
      values_(predictor.values),
      pool_(pool),
      on_all_threads_(&pool),
      cache_(model_.config.decoder_layers, kv_width(model_.config), slots, capacity),
      lengths_(slots, 0),
      sources_(slots, 0),
      shares_(pool.threads()) {
  assert(model_.has_decoder());
  for (const Predictor& other : predictor.others)
    others_.emplace_back(other, pool, slots, capacity);
}

void IncrementalDecoder::read_sources(Sources sources) {
  for (IncrementalDecoder& other : others_) other.read_sources(sources);
  if (!model_.has_encoder()) {
    const int longest = longest_joined(model_, sources);
    if (longest == 0) return;
    joined_.assign(sources.begin(), sources.end());
    cache_ = Cache<float>(model_.config.decoder_layers, kv_width(model_.config),
                          int(sources_.size()), capacity() + longest);
    return;
  }
  source_rows_.clear();
  for (const auto& s : sources) source_rows_.add_sequence(s.data(), int(s.size()));
  workspace_.rewind();
  const Mat<float> memory = workspace_.matrix<float>(source_rows_.count(), model_.config.d_model);
  // Each source by itself: several in parallel, or one on all threads.
  const auto read = [&](int i, Share& share, const RowProducts<float>& products) {
    share.workspace.rewind();
    Pass<float> pass = row_pass(values_, share.workspace, products);
    share.rows.clear();
    share.rows.add_sequence(sources[i].data(), int(sources[i].size()));
    copy_rows(model_.encode(pass, share.rows, share.saved), source_rows_.sequence(memory, i));
  };
  const int n = source_rows_.sequences();
  if (n == 1)
    read(0, shares_[0], on_all_threads_);
  else
    pool_.run(n, [&](int i, int worker) { read(i, shares_[worker], on_one_thread_); });
  Pass<float> pass = row_pass(values_, workspace_, on_all_threads_);
  model_.cache_memory(pass, memory, cache_);
}

Mat<float> IncrementalDecoder::step(span<const Tokens> given) {
  vector<vector<int>> read;
  vector<Tokens> tokens;
  for (const auto& [slot, ids] : given) {
    read.emplace_back(ids.begin(), ids.end());
    if (const int source = sources_[slot]; !joined_.empty() && lengths_[slot] == 0)
      read.back().insert(read.back().end(), joined_[source].begin(), joined_[source].end());
    tokens.push_back({slot, read.back()});
  }
  const int n = int(tokens.size()), threads = pool_.threads();
  workspace_.rewind();
  const Mat<float> logits = workspace_.matrix<float>(n, model_.target_vocab);
  if (n < kRowsToShare * threads) {
    decode(shares_[0], tokens, on_all_threads_, logits);
  } else {
    pool_.run(threads, [&](int i, int) {
      const int begin = n * i / threads, end = n * (i + 1) / threads;
      decode(shares_[i], span(tokens).subspan(begin, end - begin), on_one_thread_,
             logits.row_range(begin, end));
    });
  }
  for (const Tokens& t : tokens) lengths_[t.slot] += int(t.ids.size());
  auto theirs = mapped(others_, [&](auto& other) { return other.step(given); });
  if (!theirs.empty()) pool_.run(n, [&](int row, int) { average_row(logits, theirs, row); });
  return logits;
}

void IncrementalDecoder::decode(Share& share, span<const Tokens> tokens,
                                const RowProducts<float>& products, Mat<float> logits) {
  Packed& rows = share.rows;
  rows.clear();
  share.slots.cache = &cache_;
  share.slots.slot_of.clear();
  share.slots.source_of.clear();
  for (const Tokens& t : tokens) {
    const int n = int(t.ids.size());
    assert(n > 0 && lengths_[t.slot] + n <= capacity());
    rows.add_sequence(t.ids.data(), n, lengths_[t.slot]);
    share.slots.slot_of.push_back(t.slot);
    share.slots.source_of.push_back(sources_[t.slot]);
  }
  share.workspace.rewind();
  Pass<float> pass = row_pass(values_, share.workspace, products);
  const AttentionInput<float> input{
      .rows = &rows, .memory_rows = &source_rows_, .cache = &share.slots};
  const Mat<float> hidden = model_.decode(pass, input, share.saved),
                   last = pass.matrix(logits.rows, hidden.cols);
  for (int i = 0; i < last.rows; ++i) copy_row(hidden, rows.begin[i + 1] - 1, last, i);
  model_.output.forward_into(pass, last, logits);
  require_finite(logits);
}

void IncrementalDecoder::copy(int from, int to) {
  if (from == to) return;
  for (IncrementalDecoder& other : others_) other.copy(from, to);
  cache_.copy(from, to, lengths_[from]);
  lengths_[to] = lengths_[from];
  sources_[to] = sources_[from];
}

}  // namespace heed
