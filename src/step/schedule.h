// The learning rate of a step. Steps count from 1.
//
//   rate(step) = learning_rate * step / warmup_steps before step warmup_steps, but never more than
//   the schedule has there; from then on the schedule's:
//
//   constant      learning_rate
//   linear        straight down to min_learning_rate at decay_steps
//   cosine        half a cosine down to min_learning_rate at decay_steps
//                 (Loshchilov and Hutter 2017)
//   inverse_sqrt  learning_rate * sqrt(max(1, warmup_steps) / step)
//   wsd           learning_rate, then straight down to min_learning_rate over the last
//                 decay_fraction * decay_steps (warm-up, stable, decay: Hu et al. 2024, section 4);
//                 a warm-up that reaches into the decay ends where they meet
//   noam          learning_rate * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5)
//                 (Vaswani et al. 2017, section 5.3)
//
// To add one: its function and a row in the table in schedule.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "base/std_names.h"
#include "config/fields.h"
#include "config/train_config.h"

namespace heed {

double learning_rate(const OptimizerConfig& config, int d_model, int64_t step);

struct ScheduleKind {
  KindDoc doc;  // its name is optimizer.schedule; uses decay_steps: it ends there
  double (*rate)(const OptimizerConfig& config, int d_model, double step);
  bool factor = false;  // learning_rate is a factor, and there must be a warm-up
};
// The table. Rows may be added before the first config is read.
vector<ScheduleKind>& schedules();

// When the rate falls, and what follows: is the config allowed, which save is spared, what to try
// next.
struct Fall {
  // The last step before it, of a rate that is constant until then (wsd); -1: it falls all along,
  // or never.
  int64_t from = -1;
  // The step from which on the rate is min_learning_rate; -1: it never stays there. A warm-up
  // beyond decay_steps is finished first, except by wsd.
  int64_t to = -1;
  bool follows_end = false;  // optimizer.decay_steps is "end": it moves with the end of the run

  // From the checkpoint of this step a run can go on to another end; -1: there is none.
  int64_t spared() const { return follows_end ? from : -1; }
};
Fall fall_of(const OptimizerConfig& config);

}  // namespace heed
