// Which steps of a run have a frame: 0, 1, 2, 4, 8, ..., and spread over the rest: the first
// validation in each stretch of equal length. The stretches are powers of two, and grow with the
// step so that there are at most 24 of them; from 8 on only as many as would take 2 % of the time.
// The steps and the config alone decide, so stopping and resuming a run does not change which
// frames its film has.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace heed {

struct FrameStep {
  std::int64_t step = 0;
  bool validated = false;
};

// Is there a frame at this step, after these? `cost`: of a frame, in steps of training.
bool is_frame(const std::vector<FrameStep>& film, std::int64_t step, bool validated, double cost);
// The steps of frames that is_frame() would not make any more at the step of the last one, because
// the stretches have grown.
std::set<std::int64_t> surplus(const std::vector<FrameStep>& film, double cost);

}  // namespace heed
