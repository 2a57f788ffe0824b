// An n-gram model of token ids with interpolated Kneser-Ney smoothing (Chen & Goodman 1999, section
// 2.7 and 4.1): what counting alone predicts.
//
//   p_k(w | h) = max(a(h w) - D_k, 0) / a(h .) + D_k N(h .) / a(h .) p_(k-1)(w | h')
//
// h are the k - 1 ids before w, h' is h without its first. a(h w) counts how often h w occurs; in
// orders below the highest it counts the different ids that occur before h w, unless h begins with
// <s>, which nothing precedes (Heafield et al. 2013, section 3). a(h .) is the sum of a(h w) over
// w, N(h .) the number of different w that follow h. If h never occurred, p_k is p_(k-1); p_0 is
// uniform. D_k = n1 / (n1 + 2 n2), where n1 and n2 are the numbers of k-grams counted once and
// twice, or 0.5 if one of them is 0. So the probabilities of all ids sum to 1 after any h.
//
// The n-grams form a tree: each is a child of the n-gram without its last id. A model is full at
// about four million of them, 134 MB. One thread may learn; any number may read.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/std_names.h"
#include "text/tokenizer.h"

namespace heed {

class KneserNey {
 public:
  static constexpr int kMaxOrder = 6;

  // The position in a text: the nodes of its last 0, 1, ... ids, as far as they have occurred.
  struct Context {
    array<uint32_t, kMaxOrder> nodes{};
    int size = 1;
  };

  // 1 <= order <= kMaxOrder. `ids`: the number of different ids that a text may have.
  KneserNey(int order, int ids) : order_(order), ids_(ids), nodes_(1), slots_(1024) {
    find_or_add(0, Tokenizer::kBos);
  }

  Context start() const { return {{0, 1}, min(2, order_)}; }  // <s> has been read

  bool full() const { return nodes_.size() + kMaxOrder > kMostNodes; }

  // Counts the next id. A k-gram that is new after the id before it is one more such id for the
  // (k-1)-gram.
  void learn(Context& context, int id) {
    bool counts = true;
    for (int k = context.size; k >= 1; --k) {
      const uint32_t parent = context.nodes[k - 1], node = find_or_add(parent, id);
      if (counts) {
        const uint32_t n = ++nodes_[node].count;
        counts = n == 1;
        once_[k] += (n == 1) - (n == 2);
        twice_[k] += (n == 2) - (n == 3);
        nodes_[parent].sum += 1;
        nodes_[parent].kinds += n == 1;
      }
      if (k < order_) context.nodes[k] = node;
    }
    context.size = min(context.size + 1, order_);
  }

  // The probability of the next id; then moves past it.
  double read(Context& context, int id) const {
    double p = 1.0 / ids_;
    Context next;
    bool seen = true;
    for (int k = 1; k <= context.size; ++k) {
      const Node& h = nodes_[context.nodes[k - 1]];
      const uint32_t node = seen ? slots_[slot(key_of(context.nodes[k - 1], id))] : 0;
      seen = node != 0;
      if (h.sum > 0) {
        const double d = discount(k), a = seen ? nodes_[node].count : 0.0;
        p = (max(a - d, 0.0) + d * h.kinds * p) / h.sum;
      }
      if (seen && k < order_) next.nodes[next.size++] = node;
    }
    context = next;
    return p;
  }

  // The most bytes that learning this many ids takes.
  static double memory(double ids) {
    return 32 * min<double>(kMostNodes, kMaxOrder * ids);  // a node and two slots
  }

 private:
  static constexpr size_t kMostNodes = size_t{1} << 22;
  struct Node {
    uint64_t key = 0;                        // parent and id
    uint32_t count = 0, sum = 0, kinds = 0;  // a(h w); with itself as h: a(h .), N(h .)
  };

  static uint64_t key_of(uint32_t parent, int id) { return uint64_t{parent} << 32 | uint32_t(id); }

  // Where a key is, or would be put.
  size_t slot(uint64_t key) const {
    // The high bits of a product by 2^64 / golden ratio are well mixed (Knuth, volume 3, 6.4).
    size_t i = key * 0x9E3779B97F4A7C15u >> (64 - std::countr_zero(slots_.size()));
    while (slots_[i] != 0 && nodes_[slots_[i]].key != key) i = (i + 1) & (slots_.size() - 1);
    return i;
  }

  uint32_t find_or_add(uint32_t parent, int id) {
    const uint64_t key = key_of(parent, id);
    if (const uint32_t node = slots_[slot(key)]) return node;
    if (3 * slots_.size() < 4 * nodes_.size()) {
      slots_.assign(2 * slots_.size(), 0);
      for (uint32_t i = 1; i < nodes_.size(); ++i) slots_[slot(nodes_[i].key)] = i;
    }
    slots_[slot(key)] = uint32_t(nodes_.size());
    nodes_.push_back({.key = key});
    return slots_[slot(key)];
  }

  double discount(int order) const {
    if (once_[order] == 0 || twice_[order] == 0) return 0.5;
    const auto n1 = double(once_[order]);
    return n1 / (n1 + 2.0 * double(twice_[order]));
  }

  int order_, ids_;
  vector<Node> nodes_;      // the root, "<s>", then in order of first occurrence
  vector<uint32_t> slots_;  // a hash table of nodes_; 0: free
  array<int64_t, kMaxOrder + 1> once_{}, twice_{};  // n1, n2
};

}  // namespace heed
