// What the processes of one training, its ranks, send each other. Each rank has the whole model and
// a share of every step's shards; together they write the bytes of one process:
//
//   run      each rank runs a contiguous share of the shards; the losses of all go to all
//   reduce   each sums the complete subtrees that it has of the tree of sums (step/gradients.h).
//            Each owns a slice of the weights (step/gradients.h): the others send it their partial
//            sums of that slice, and it adds them in the tree's order. The squares of its blocks
//            go to all, so every rank has the same norm, to the last bit.
//   update   each moves its slice, and has only that slice's moments and averaged weights (ZeRO-1:
//            Rajbhandari et al. 2020); the new weights go to all
//
// An Exchange moves bytes; who adds what, and in which order, is fixed by the callers. (The sums of
// MPI_Allreduce have no order that it would promise.) The first rank has the run folder and the
// data; the others get from it all that they need.
//
// This class is one process, which has nothing to do. Several are in exchange_mpi.cpp, the only
// file that knows MPI. One thread may call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/std_names.h"

namespace heed {

// Was this process started by an MPI launcher (mpirun, srun), with others beside it? Read from the
// environment: OMPI_COMM_WORLD_SIZE (Open MPI), PMI_SIZE (MPICH, srun), PMIX_RANK (srun). Not from
// SLURM_*: sbatch sets those for plain commands too. The number of processes; 0: no launcher; -1:
// as many as MPI will say.
int launched_ranks();

// Parts of a row of things, one for each rank, then the end: rank r has [begin[r], begin[r + 1]).
using Parts = vector<size_t>;
// n things in contiguous parts that differ by at most one.
Parts equal_parts(size_t n, int ranks);

class Exchange {
 public:
  struct Message {
    int rank;  // to or from this one
    void* bytes;
    size_t size;
  };

  virtual ~Exchange() = default;
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int neighbours() const { return neighbours_; }  // ranks on this one's cores, itself included

  // Sends and receives all of these. Two ranks' messages to each other keep their order. Error
  // (memory) if a rank that it waits for is silent for `timeout` seconds; 0: waits for ever.
  virtual void swap(const vector<Message>&, const vector<Message>&) {}
  double timeout = 0;
  // Tells ranks that wait that this one is alive, at most once a second.
  virtual void busy() {}
  virtual void finish() {}                     // all have done their work
  virtual void abort(Exit) {}                  // ends all ranks at once
  void wait_for_end();                         // on other ranks than the first, which will abort
  virtual string where() const { return ""; }  // "rank 2 on HOST: "

  double waited() const { return waited_; }  // seconds in swap() so far
  uint64_t sent() const { return sent_; }    // bytes so far

  // The rest is made of swap(). Error (usage) on a rank whose text, of `what`, is not the first's.
  void require_same(const string& what, const string& own);
  // Bytes of the first rank to all.
  void broadcast(void* bytes, size_t size);
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void share(T& value) { broadcast(&value, sizeof value); }
  // A string or a vector: `all` becomes the first rank's.
  template <class Row>
  requires requires(Row row) { row.resize(1); }
  void share(Row& all) {
    size_t size = all.size();
    share(size);
    all.resize(size);
    broadcast(all.data(), size * sizeof all[0]);
  }
  template <class... All>
  requires(sizeof...(All) > 1) void share(All&... all) { (share(all), ...); }
  // Every rank has its part of `all`; then all have the whole, or the first rank has. To each: the
  // first rank has the whole; then every rank has its part.
  enum class To { all, first, each };
  template <class T>
  void move(T* all, const Parts& parts, To to = To::all) {
    move_bytes(reinterpret_cast<char*>(all), sizeof(T), parts, to);
  }

 protected:
  int rank_ = 0, ranks_ = 1, neighbours_ = 1;
  double waited_ = 0;
  uint64_t sent_ = 0;

 private:
  void move_bytes(char* all, size_t size, const Parts& parts, To to);
};

// It has no state that could change.
inline Exchange& one_process() {
  static Exchange alone;
  return alone;
}

// The ranks that a launcher started: `launched` of them. Error (usage) if this
// build has no MPI. In exchange_mpi.cpp, which is not part of the heart.
unique_ptr<Exchange> open_exchange(int launched);
string mpi_info();  // e.g. "Open MPI v4.1.4"; "none"

}  // namespace heed
