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
#include <cstdint>
#include <vector>

namespace heed {

class KneserNey {
 public:
  static constexpr int kMaxOrder = 6;

  // 1 <= order <= kMaxOrder. `ids`: the number of different ids that a text may have.
  KneserNey(int order, int ids);

  // The position in a text: the nodes of its last 0, 1, ... ids, as far as they have occurred.
  struct Context {
    std::array<std::uint32_t, kMaxOrder> nodes{};
    int size = 1;
  };
  Context start() const;  // <s> has been read

  bool full() const { return nodes_.size() + kMaxOrder > kMostNodes; }
  void learn(Context& context, int id);         // counts the next id
  double read(Context& context, int id) const;  // its probability; then moves past it

  // The most bytes that learning this many ids takes.
  static double memory(double ids) {
    return 32 * std::min<double>(kMostNodes, kMaxOrder * ids);  // a node and two slots
  }

 private:
  static constexpr std::size_t kMostNodes = std::size_t{1} << 22;
  struct Node {
    std::uint64_t key = 0;                        // parent and id
    std::uint32_t count = 0, sum = 0, kinds = 0;  // a(h w); with itself as h: a(h .), N(h .)
  };

  std::size_t slot(std::uint64_t key) const;  // where the key is, or would be put
  std::uint32_t find(std::uint32_t parent, int id) const;
  std::uint32_t find_or_add(std::uint32_t parent, int id);
  bool count(std::uint32_t parent, std::uint32_t node, int order);
  double discount(int order) const;

  int order_, ids_;
  std::vector<Node> nodes_;           // the root, "<s>", then in order of first occurrence
  std::vector<std::uint32_t> slots_;  // a hash table of nodes_; 0: free
  std::array<std::int64_t, kMaxOrder + 1> once_{}, twice_{};  // n1, n2
};

}  // namespace heed
