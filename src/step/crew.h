// Who shares a piece of work: the threads of this process and, of several ranks (step/exchange.h),
// those of the others. Work comes as numbered tasks, so what comes out does not depend on who did
// them; all members call the same functions in the same order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/pool.h"
#include "base/std_names.h"
#include "step/exchange.h"

namespace heed {

class Crew {
 public:
  // Pool and exchange must outlive it.
  Crew(Pool& pool, Exchange& exchange = one_process()) : pool_(&pool), exchange_(&exchange) {}
  // Without threads yet: what is handed down until it is known how many each process gets.
  Crew(Exchange& exchange = one_process()) : exchange_(&exchange) {}

  Pool& pool() const { return *pool_; }              // for what each process does alone
  Exchange& exchange() const { return *exchange_; }  // for those who know that there are ranks
  int ranks() const { return exchange_->ranks(); }
  bool alone() const { return ranks() == 1; }
  // That each process may use.
  int cores() const { return max(1, available_cores() / exchange_->neighbours()); }
  string in_words() const {  // "2 threads in each of 3 processes"
    const int n = pool_->threads();
    const string threads = to_string(n) + (n == 1 ? " thread" : " threads");
    return alone() ? threads : threads + " in each of " + to_string(ranks()) + " processes";
  }

  // f(task, worker) for every task in 0..n-1, as Pool::run() does.
  template <class F>
  void run(size_t n, F&& f) const {
    const auto [first, end] = part(n);
    pool_->run(end - first, [&, from = first](int task, int worker) {
      if (worker == 0) busy();
      f(from + task, worker);
    });
  }
  // f(begin, end) for n things in pieces of at most `most`, on the thread of each caller.
  template <class F>
  void in_pieces(size_t n, size_t most, F&& f) const {
    const auto [first, end] = part(n);
    for (size_t at = first; at < end; at += most) {
      busy();
      f(at, min(end, at + most));
    }
  }
  // What came out of the n tasks or things, of which each member has written its own.
  template <class T>
  void gather(vector<T>& results) const {
    if (!alone()) exchange_->move(results.data(), equal_parts(results.size(), ranks()));
  }

  // Over the processes, which all come that far.
  double sum(double own) const {
    vector<double> all(ranks());
    all[exchange_->rank()] = own;
    gather(all);
    return accumulate(all.begin(), all.end(), 0.0);
  }

  // Tells those who wait for this process that it is at work.
  void busy() const { exchange_->busy(); }

 private:
  // The first task of this process, and the end of its share.
  pair<size_t, size_t> part(size_t n) const {
    const Parts parts = equal_parts(n, ranks());
    return {parts[exchange_->rank()], parts[exchange_->rank() + 1]};
  }

  Pool* pool_ = nullptr;
  Exchange* exchange_;
};

}  // namespace heed
