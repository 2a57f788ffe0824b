#include "evaluate/kneser_ney.h"

#include <bit>
#include <cassert>

#include "text/tokenizer.h"

namespace heed {
namespace {

std::uint64_t key_of(std::uint32_t parent, int id) {
  return std::uint64_t{parent} << 32 | static_cast<std::uint32_t>(id);
}

}  // namespace

KneserNey::KneserNey(int order, int ids) : order_(order), ids_(ids), nodes_(1), slots_(1024) {
  assert(1 <= order && order <= kMaxOrder);
  find_or_add(0, Tokenizer::kBos);
}

KneserNey::Context KneserNey::start() const {
  return {{0, 1}, std::min(2, order_)};
}

std::size_t KneserNey::slot(std::uint64_t key) const {
  // The high bits of a product by 2^64 / golden ratio are well mixed (Knuth, volume 3, 6.4).
  std::size_t i = key * 0x9E3779B97F4A7C15u >> (64 - std::countr_zero(slots_.size()));
  while (slots_[i] != 0 && nodes_[slots_[i]].key != key) i = (i + 1) & (slots_.size() - 1);
  return i;
}

std::uint32_t KneserNey::find(std::uint32_t parent, int id) const {
  return slots_[slot(key_of(parent, id))];
}

std::uint32_t KneserNey::find_or_add(std::uint32_t parent, int id) {
  const std::uint64_t key = key_of(parent, id);
  if (const std::uint32_t node = slots_[slot(key)]) return node;
  if (3 * slots_.size() < 4 * nodes_.size()) {
    slots_.assign(2 * slots_.size(), 0);
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) slots_[slot(nodes_[i].key)] = i;
  }
  slots_[slot(key)] = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.key = key});
  return slots_[slot(key)];
}

// Counts an n-gram; true if it is new.
bool KneserNey::count(std::uint32_t parent, std::uint32_t node, int order) {
  const std::uint32_t n = ++nodes_[node].count;
  once_[order] += (n == 1) - (n == 2);
  twice_[order] += (n == 2) - (n == 3);
  nodes_[parent].sum += 1;
  nodes_[parent].kinds += n == 1;
  return n == 1;
}

// A k-gram that is new after the id before it is one more such id for the (k-1)-gram.
void KneserNey::learn(Context& context, int id) {
  bool counts = true;
  for (int k = context.size; k >= 1; --k) {
    const std::uint32_t parent = context.nodes[k - 1], node = find_or_add(parent, id);
    if (counts) counts = count(parent, node, k);
    if (k < order_) context.nodes[k] = node;
  }
  context.size = std::min(context.size + 1, order_);
}

double KneserNey::discount(int order) const {
  if (once_[order] == 0 || twice_[order] == 0) return 0.5;
  const auto n1 = static_cast<double>(once_[order]);
  return n1 / (n1 + 2.0 * static_cast<double>(twice_[order]));
}

double KneserNey::read(Context& context, int id) const {
  double p = 1.0 / ids_;
  Context next;
  bool seen = true;
  for (int k = 1; k <= context.size; ++k) {
    const Node& h = nodes_[context.nodes[k - 1]];
    const std::uint32_t node = seen ? find(context.nodes[k - 1], id) : 0;
    seen = node != 0;
    if (h.sum > 0) {
      const double d = discount(k), a = seen ? nodes_[node].count : 0.0;
      p = (std::max(a - d, 0.0) + d * h.kinds * p) / h.sum;
    }
    if (seen && k < order_) next.nodes[next.size++] = node;
  }
  context = next;
  return p;
}

}  // namespace heed
