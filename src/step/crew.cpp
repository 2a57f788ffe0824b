#include "step/crew.h"

#include <algorithm>
#include <numeric>

namespace heed {

int Crew::cores() const {
  return std::max(1, available_cores() / exchange_->neighbours());
}

std::string Crew::in_words() const {
  const int n = pool_->threads();
  const std::string threads = std::to_string(n) + (n == 1 ? " thread" : " threads");
  return alone() ? threads : threads + " in each of " + std::to_string(ranks()) + " processes";
}

Crew::Part Crew::part(std::size_t n) const {
  const Parts parts = equal_parts(n, ranks());
  return {parts[exchange_->rank()], parts[exchange_->rank() + 1]};
}

bool Crew::any(bool own) const {
  return sum(own ? 1 : 0) > 0;
}

double Crew::sum(double own) const {
  std::vector<double> all(ranks());
  all[exchange_->rank()] = own;
  gather(all);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

}  // namespace heed
