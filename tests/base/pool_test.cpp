#include "base/pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace heed {
namespace {

TEST(Pool, RunsEveryTaskOnce) {
  for (int threads : {1, 2, 3, 9}) {
    Pool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int tasks : {0, 1, 2, threads, 100}) {
      std::vector<std::atomic<int>> runs(tasks);
      pool.run(tasks, [&](int task, int) { ++runs[task]; });
      for (const auto& n : runs) EXPECT_EQ(n, 1);
    }
  }
}

TEST(Pool, WorkersAreNumberedAndNeverShareANumberAtATime) {
  Pool pool(3);
  std::atomic<int> inside[3] = {0, 0, 0};
  std::atomic<bool> shared{false};
  pool.run(2000, [&](int, int worker) {
    ASSERT_GE(worker, 0);
    ASSERT_LT(worker, 3);
    if (inside[worker]++ != 0) shared = true;
    --inside[worker];
  });
  EXPECT_FALSE(shared);
}

TEST(Pool, ThreadsReallyWorkSideBySide) {
  Pool pool(3);
  std::atomic<int> arrived{0};
  // Each task waits for the others: with fewer than three threads this would never end.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  pool.run(3, [&](int, int) {
    ++arrived;
    while (arrived < 3 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 3);
  EXPECT_LT(std::chrono::steady_clock::now(), end);
}

TEST(Pool, AnExceptionComesOutAfterAllTasksHaveEnded) {
  for (int threads : {1, 2, 4}) {
    Pool pool(threads);
    std::atomic<int> ended{0};
    try {
      pool.run(50, [&](int task, int) {
        if (task == 7) throw std::runtime_error("task 7");
        ++ended;
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), std::string("task 7"));
    }
    EXPECT_EQ(ended, 49);
    // and the pool still works
    std::atomic<int> sum{0};
    pool.run(10, [&](int task, int) { sum += task; });
    EXPECT_EQ(sum, 45);
  }
}

TEST(Pool, ThousandsOfShortRounds) {
  for (int threads : {2, 5}) {  // 5: more than the cores of most machines
    Pool pool(threads);
    std::int64_t sum = 0;
    for (int round = 0; round < 5000; ++round) {
      std::int64_t parts[4] = {0, 0, 0, 0};
      pool.run(4, [&](int task, int) { parts[task] = round + task; });
      for (std::int64_t p : parts) sum += p;
    }
    EXPECT_EQ(sum, 4 * (4999LL * 5000 / 2) + 5000 * 6);
  }
}

TEST(Pool, AvailableCoresAreThoseOfTheAffinityMask) {
  cpu_set_t usual, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof usual, &usual), 0);
  EXPECT_GE(available_cores(), 1);
  EXPECT_LE(available_cores(), CPU_COUNT(&usual));
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &usual)) CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(available_cores(), 1);
  sched_setaffinity(0, sizeof usual, &usual);
}

}  // namespace
}  // namespace heed
