#include "step/exchange.h"

#include <cstdlib>

#include "base/number.h"
#include "base/std_names.h"

namespace heed {

int launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(name)) return read_number<int>(size).value_or(0);
  return std::getenv("PMIX_RANK") != nullptr ? -1 : 0;
}

Parts equal_parts(size_t n, int ranks) {
  Parts parts;
  for (int r = 0; r <= ranks; ++r) parts.push_back(n * r / ranks);
  return parts;
}

void Exchange::wait_for_end() {
  char nothing = 0;
  if (rank_ > 0) swap({}, {{0, &nothing, 1}});
}

void Exchange::require_same(const string& what, const string& own) {
  string first = own;
  share(first);
  if (first != own)
    throw Error(Exit::usage, what + " is not the first rank's: " + own + "; expected " + first,
                "the same build and command on machines of one kind");
}

// Along a binomial tree: after the round of d, the first 2d ranks have it.
void Exchange::broadcast(void* bytes, size_t size) {
  for (int d = 1; d < ranks_; d *= 2) {
    if (rank_ < d && rank_ + d < ranks_) swap({{rank_ + d, bytes, size}}, {});
    if (rank_ >= d && rank_ < 2 * d) swap({}, {{rank_ - d, bytes, size}});
  }
}

void Exchange::move_bytes(char* all, size_t size, const Parts& parts, To to) {
  if (ranks_ == 1) return;
  // Rank `of`'s part, to or from rank `with`.
  const auto part = [&](int with, int of) {
    return Message{with, all + parts[of] * size, (parts[of + 1] - parts[of]) * size};
  };
  vector<Message> sends, receives;
  for (int r = 0; r < ranks_; ++r) {
    if (r == rank_) continue;
    if (to == To::all || r == 0) sends.push_back(part(r, rank_));
    if (to == To::all || rank_ == 0) receives.push_back(part(r, r));
  }
  to == To::each ? swap(receives, sends) : swap(sends, receives);
}

}  // namespace heed
