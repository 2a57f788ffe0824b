// Decoding with a model: it reads the sources once, then new tokens of many sequences at a time.
// Each sequence has a slot in a key/value cache that is written in place.
//
// All passes go row by row (math/batch_invariant.h): the logits of a slot depend only on its own
// tokens, not on the other slots, on how the tokens were split over calls, or on the threads. Many
// slots are divided among the threads, and each thread takes its slots through the whole decoder.
// Few slots go together, and the threads share each product. A slot without new tokens costs
// nothing. The decoder owns cache and workspaces; models, values and pool must outlive it. Only the
// pool's calling thread may use it.
#pragma once

#include <list>
#include <span>
#include <vector>

#include "base/std_names.h"
#include "decode/predictor.h"

namespace heed {

using Sources = span<const vector<int>>;

// How many targets of `capacity` tokens to decode at a time: as many as fit, with the longest of
// these sources where there is no encoder, into caches of 64 million numbers; from 1 to `most`.
int slots_at_a_time(const Predictor& predictor, int capacity, Sources sources, int most);

// The most tokens that a decoder can read of a target: without an encoder, the source takes some of
// its positions.
int most_of_target(const Transformer& model, const vector<int>& source);

class IncrementalDecoder {
 public:
  // `slots` targets of at most `capacity` tokens: with their sources at most most_positions().
  IncrementalDecoder(const Predictor& predictor, Pool& pool, int slots, int capacity);

  // Reads sources 0, 1, ..., which replace all earlier ones. A slot reads source 0 until it is
  // restarted with another. Without an encoder the decoder reads a source itself, after the first
  // tokens that a slot is given: then all slots must begin again.
  void read_sources(Sources sources);

  struct Tokens {
    int slot;
    span<const int> ids;  // at least one
  };
  // Appends tokens to slots (each slot at most once per call). Returns the logits after the last
  // token of each, [tokens.size(), vocab]. The caller may overwrite them; they are valid until the
  // next call. Error (diverged) if they are not finite.
  Mat<float> step(span<const Tokens> tokens);

  int capacity() const { return cache_.capacity(); }
  int length(int slot) const { return lengths_[slot]; }
  void restart(int slot, int source) {
    lengths_[slot] = 0;
    sources_[slot] = source;
    for (IncrementalDecoder& other : others_) other.restart(slot, source);
  }
  void copy(int from, int to);  // `to` becomes a copy of `from`

 private:
  // What one thread needs to take its slots through the decoder.
  struct Share {
    Workspace workspace;
    Packed rows;
    CacheSlots<float> slots;
    StackSaved<float> saved;
  };
  void decode(Share& share, span<const Tokens> tokens, const RowProducts<float>& products,
              Mat<float> logits);

  const Transformer& model_;
  const ParamVec<float>& values_;
  Pool& pool_;
  RowProducts<float> on_all_threads_, on_one_thread_{nullptr};
  Cache<float> cache_;
  vector<int> lengths_, sources_;  // per slot: number of tokens, source it reads
  vector<vector<int>> joined_;     // the sources that the decoder reads itself
  Packed source_rows_;
  Workspace workspace_;                   // for the encoder's output and the logits
  vector<Share> shares_;                  // one per thread
  std::list<IncrementalDecoder> others_;  // of an ensemble
};

}  // namespace heed
