// The ranks of an MPI launcher. MPI moves bytes, in pieces that it can count and that show that a
// slow link is alive. While a run trains, every wait has a clock.
#ifdef HEED_MPI
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "base/profile.h"
#endif

#include "base/std_names.h"
#include "step/exchange.h"

namespace heed {

#ifdef HEED_MPI
namespace {

constexpr size_t kPiece = size_t{16} << 20;  // bytes of one MPI message
constexpr int kData = 1, kBusy = 2;          // tags
constexpr double kSpin = 2e-3;               // seconds of a wait without pauses
constexpr useconds_t kPause = 100;

class MpiExchange : public Exchange {
 public:
  MpiExchange() {
    int provided = 0;  // one thread may always call MPI; heed's others don't
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    places_.resize(ranks_);
    silent_.resize(ranks_);
    Place& own = places_[rank_];
    ::gethostname(own.host.data(), own.host.size() - 1);
    ::sched_getaffinity(0, sizeof own.cores, &own.cores);
    move(places_.data(), equal_parts(ranks_, ranks_));
    const auto shares_cores = [&](const Place& other) {
      cpu_set_t both;
      CPU_AND(&both, &own.cores, &other.cores);
      return other.host == own.host && CPU_COUNT(&both) > 0;
    };
    neighbours_ = max<int>(1, ranges::count_if(places_, shares_cores));
  }

  void swap(const vector<Message>& sends, const vector<Message>& receives) override {
    const double begin = seconds_now();
    requests_.clear();
    from_.clear();
    const auto post = [&](const Message& m, auto operation) {
      for (size_t at = 0; at < m.size; at += kPiece) {
        requests_.emplace_back();
        from_.push_back(m.rank);
        check(operation(static_cast<char*>(m.bytes) + at, min(kPiece, m.size - at), MPI_BYTE,
                        m.rank, kData, MPI_COMM_WORLD, &requests_.back()));
      }
    };
    for (const Message& m : receives) post(m, MPI_Irecv);
    for (const Message& m : sends) {
      post(m, MPI_Isend);
      sent_ += m.size;
    }
    wait();
    waited_ += seconds_now() - begin;
  }

  void busy() override {
    if (seconds_now() - said_busy_ < 1) return;
    said_busy_ = seconds_now();
    for (int r = 0; r < ranks_; ++r) {
      if (r == rank_) continue;
      MPI_Request request;
      check(MPI_Isend(nullptr, 0, MPI_BYTE, r, kBusy, MPI_COMM_WORLD, &request));
      check(MPI_Request_free(&request));
    }
  }

  void finish() override {
    vector<char> all(ranks_);
    move(all.data(), equal_parts(ranks_, ranks_));
    hear_busy();
    MPI_Finalize();
  }

  void abort(Exit exit) override { MPI_Abort(MPI_COMM_WORLD, int(exit)); }
  string where() const override { return name_of(rank_) + ": "; }

 private:
  struct Place {
    array<char, 65> host{};
    cpu_set_t cores;
  };

  string name_of(int rank) const {
    return "rank " + to_string(rank) + " on " + places_[rank].host.data();
  }

  static void check(int result) {
    if (result == MPI_SUCCESS) return;
    array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(result, text.data(), &length);
    throw Error(Exit::memory, string("another rank cannot be reached: ") + text.data());
  }

  // Takes the messages of ranks that say that they are busy: their silence begins anew.
  void hear_busy() {
    for (;;) {
      int found = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, kBusy, MPI_COMM_WORLD, &found, &status));
      if (found == 0) return;
      silent_[status.MPI_SOURCE] = 0;
      check(MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kBusy, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));
    }
  }

  // A rank that waits says so too, so that of a chain of waits only the rank at its end is silent.
  void wait() {
    const int n = requests_.size();
    done_.resize(n);
    ranges::fill(silent_, 0.0);
    const double begin = seconds_now();
    double last = begin, moved = begin;
    for (int left = n; left > 0;) {
      int some = 0;
      check(MPI_Testsome(n, requests_.data(), &some, done_.data(), MPI_STATUSES_IGNORE));
      left -= some;
      const double now = seconds_now();
      // Not more than a second at a time: this process may have been stopped itself.
      for (double& seconds : silent_) seconds += min(now - last, 1.0);
      last = now;
      for (int i = 0; i < some; ++i) silent_[from_[done_[i]]] = 0;
      if (some > 0) moved = now;
      if (now - moved < kSpin) {
        ::sched_yield();
        continue;
      }
      hear_busy();
      for (int i = 0; i < n && timeout > 0; ++i)
        if (requests_[i] != MPI_REQUEST_NULL && silent_[from_[i]] > timeout)
          throw Error(Exit::memory,
                      "no message from " + name_of(from_[i]) + " for " +
                          (std::ostringstream() << timeout).str() + " s (train.rank_timeout).",
                      "heed resume, which continues from the last checkpoint");
      if (now - begin > 1) busy();
      if (left > 0) ::usleep(kPause);
    }
  }

  vector<Place> places_;  // of all ranks
  vector<MPI_Request> requests_;
  vector<int> from_, done_;  // the rank of each; which are done
  vector<double> silent_;    // seconds in this wait without a word from each rank
  double said_busy_ = 0;
};

}  // namespace
#endif

string mpi_info() {
#ifndef HEED_MPI
  return "none";
#else
  array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return string(text.data()).substr(0, string_view(text.data()).find_first_of(",\n"));
#endif
}

unique_ptr<Exchange> open_exchange([[maybe_unused]] int launched) {
#ifndef HEED_MPI
  throw Error(Exit::usage, "a launcher started several ranks, and this heed was built without MPI.",
              "scripts/install_dependencies.sh mpi, and build again (cmake -DHEED_MPI=ON)");
#else
  auto exchange = make_unique<MpiExchange>();
  if (launched > 0 && exchange->ranks() != launched)
    throw Error(Exit::usage,
                "the launcher started " + to_string(launched) + " ranks, and MPI sees " +
                    to_string(exchange->ranks()) + ": they are of different kinds of MPI.",
                "the mpirun of the MPI that heed was built with");
  return exchange;
#endif
}

}  // namespace heed
