// An n-gram model of token ids with interpolated Kneser-Ney smoothing (Chen & Goodman 1999, section
// 2.7 and 4.1): what counting alone predicts.
//
//   p_k(w | h) = max(a(h w) - D_k, 0) / a(h .) + D_k N(h .) / a(h .) p_(k-1)(w | h')
//
// h are the k - 1 ids before w, h' is h without its first. a(h w) counts how often h w is seen;
// in orders below the highest, how many different ids are seen before h w, or, if h begins with
// <s>, before which there is nothing, how often it is seen (Heafield et al. 2013, section 3). a(h
// .) is the sum of a(h w) over w, N(h .) the number of different w seen after h. Where h was never
// seen, p_k is p_(k-1); p_0 is uniform. D_k = n1 / (n1 + 2 n2), n1 and n2 the numbers of k-grams
// that are counted once and twice, or 0.5 where one of them is 0. So the probabilities of all ids
// sum to 1 after any h.
//
// All n-grams are a tree, each the child of the ids before its last. A model is full at some four
// million of them, 134 MB. Learning is for one thread; any number may read.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace heed {

class KneserNey {
 public:
  static constexpr int kMaxOrder = 6;

  // 1 <= order <= kMaxOrder. `ids`: how many different ids a text may have.
  KneserNey(int order, int ids);

  // Where a text has been read up to: the nodes of its last 0, 1, ... ids, as far as they are seen.
  struct Context {
    std::array<std::uint32_t, kMaxOrder> nodes{};
    int size = 1;
  };
  Context start() const;  // <s> has been read

  bool full() const { return nodes_.size() + kMaxOrder > kMostNodes; }
  void learn(Context& context, int id);         // counts the next id
  double read(Context& context, int id) const;  // the probability that it had

  // Bytes that it takes, at most, to learn so many ids.
  static double memory(double learnt) {
    return 32 * std::min<double>(kMostNodes, kMaxOrder * learnt);  // a node and two slots
  }

 private:
  static constexpr std::size_t kMostNodes = std::size_t{1} << 22;
  struct Node {
    std::uint64_t key = 0;                        // parent and id
    std::uint32_t count = 0, sum = 0, kinds = 0;  // a(h w); with itself as h: a(h .), N(h .)
  };

  std::size_t slot(std::uint64_t key) const;  // where it is, or where it belongs
  std::uint32_t find(std::uint32_t parent, int id) const;
  std::uint32_t find_or_add(std::uint32_t parent, int id);
  bool count(std::uint32_t parent, std::uint32_t node, int order);
  double discount(int order) const;

  int order_, ids_;
  std::vector<Node> nodes_;           // the root, "<s>", then as they are met
  std::vector<std::uint32_t> slots_;  // a hash table of nodes_; 0: free
  std::array<std::int64_t, kMaxOrder + 1> once_{}, twice_{};  // n1, n2
};

}  // namespace heed
