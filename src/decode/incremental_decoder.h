// Decoding with a model: sources read once, then tokens fed to many sequences at a time, each in a
// slot of a key/value cache that is written in place.
//
// All passes go row by row (math/batch_invariant.h): what a slot gives depends on what it was fed
// alone, not on the other slots, on how its tokens were split over calls, or on the threads. So
// many slots are shared out, each thread taking its own through the whole decoder; few slots go
// together, and the threads share each product. A slot that is not fed costs nothing. The decoder
// owns cache and workspaces; model, values and pool must outlive it. Used by one thread, which is
// the pool's caller.
#pragma once

#include <span>
#include <vector>

#include "nn/transformer.h"

namespace heed {

// How many sequences of `tokens` each to decode at a time: as many as a cache of 64 million numbers
// holds, at least one and at most `most`.
int slots_at_a_time(const ModelConfig& config, double tokens, int most);

class IncrementalDecoder {
 public:
  // `slots` sequences of at most `capacity` tokens. Learned positions: capacity <= their number.
  IncrementalDecoder(const Transformer& model, const ParamVec<float>& values, Pool& pool, int slots,
                     int capacity);

  // Reads sources; they are 0, 1, ... from now on, in place of earlier ones. For models with both
  // sides: slots that are fed on must be restarted.
  void read_sources(std::span<const std::vector<int>> sources);

  struct Tokens {
    int slot;
    int source;                // which source it reads; 0 without an encoder
    std::span<const int> ids;  // at least one
  };
  // Appends tokens to slots (each at most once in a call). Returns [feeds, vocab]: the logits that
  // follow each one's last token. They may be overwritten, and live until the next call. Error
  // (diverged) if they are not finite.
  Mat<float> step(std::span<const Tokens> tokens);

  int capacity() const { return cache_.capacity(); }
  int length(int slot) const { return lengths_[slot]; }
  void restart(int slot) { lengths_[slot] = 0; }
  void copy(int from, int to);  // `to` becomes what `from` is

 private:
  // What one thread needs to take some of the slots through the decoder.
  struct Share {
    Workspace workspace;
    Packed rows;
    CacheSlots<float> slots;
    StackSaved<float> saved;
  };
  void decode(Share& share, std::span<const Tokens> feeds, Pool* pool, Mat<float> logits);

  const Transformer& model_;
  const ParamVec<float>& values_;
  Pool& pool_;
  Cache<float> cache_;
  std::vector<int> lengths_;  // of each slot
  Packed source_rows_;
  Workspace workspace_;        // of the caller: memory, logits
  std::vector<Share> shares_;  // one per thread
};

}  // namespace heed
