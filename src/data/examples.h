// The objective: which rows a model reads and which labels it is asked for, example by example.
//
// An Examples is a view on one Split under one objective. Text is cut into tiles, pairs are taken
// as they are. In epoch 0, 1, 2, ... tiles start at a keyed offset and come in a keyed order, so
// that (epoch, index) says everything; kEvaluation means offset 0, natural order, fixed masks.
// Immutable: any thread may call it.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"

namespace heed {

// One sequence of each side that is read, and the labels of the output side (-1: not scored).
struct Example {
  std::vector<int> source, target, labels;
  int tokens() const { return static_cast<int>(source.size() + target.size()); }
};

class Examples {
 public:
  static constexpr std::int64_t kEvaluation = -1;

  Examples(const Split& split, const RunConfig& config, int vocab, int mask_id);

  std::int64_t count(std::int64_t epoch) const;  // of an epoch, or of kEvaluation
  // The index-th example of an epoch, in the epoch's order. Reuses the vectors of `out`.
  void make(std::int64_t epoch, std::int64_t index, Example& out) const;

 private:
  struct Tile {
    std::size_t begin, end;
  };
  std::size_t tile_offset(std::int64_t epoch) const;
  Tile tile(std::int64_t epoch, std::int64_t number) const;
  void prefix_lm(Tile t, Example& out) const;
  void causal_lm(Tile t, Example& out) const;
  void masked_lm(Tile t, std::int64_t epoch, Example& out) const;
  void seq2seq(std::size_t sentence, Example& out) const;

  const Split* split_;
  ObjectiveConfig objective_;
  std::uint64_t seed_;
  int vocab_, mask_id_;
  std::size_t tile_length_;
};

}  // namespace heed
