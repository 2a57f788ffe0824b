#include "math/workspace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace heed {
namespace {

bool aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 64 == 0;
}

TEST(Workspace, EveryMatrixIsAligned) {
  Workspace w;
  for (int n : {1, 3, 17, 1000, 300'000}) {
    EXPECT_TRUE(aligned(w.matrix<float>(n, 1).data)) << n;
    EXPECT_TRUE(aligned(w.matrix<double>(1, n).data)) << n;
  }
}

TEST(Workspace, MatricesDoNotOverlap) {
  Workspace w;
  std::vector<Mat<float>> mats;
  // More than a first block holds, so that blocks are crossed.
  for (int i = 0; i < 200; ++i) {
    mats.push_back(w.matrix<float>(1 + i % 7, 1 + 37 * i));
    for (int r = 0; r < mats.back().rows; ++r)
      for (int c = 0; c < mats.back().cols; ++c) mats.back()(r, c) = static_cast<float>(i);
  }
  for (int i = 0; i < 200; ++i)
    for (int r = 0; r < mats[i].rows; ++r)
      for (int c = 0; c < mats[i].cols; ++c) ASSERT_EQ(mats[i](r, c), static_cast<float>(i));
}

// Sizes that leave the end of several blocks unused.
std::vector<const void*> one_round(Workspace& w) {
  const WorkspaceScope scope(w);
  std::vector<const void*> addresses;
  for (int size : {200'000, 300'000, 10, 900'000, 5, 2'000'000, 64})
    addresses.push_back(w.matrix<float>(1, size).data);
  return addresses;
}

TEST(Workspace, DoesNotGrowAfterTheFirstRound) {
  Workspace w;
  one_round(w);
  const std::size_t warm = w.bytes();
  EXPECT_GE(warm, 4u * 3'400'000);
  EXPECT_LE(warm, 8u * 3'400'000);
  const auto second = one_round(w);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(one_round(w), second);  // nothing moved: nothing allocated
  EXPECT_EQ(w.bytes(), warm);
}

}  // namespace
}  // namespace heed
