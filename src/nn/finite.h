// The check after the forward pass of every command that shows a model's results: NaN or infinity
// in its logits, or in its hidden rows if only those are read, ends the command. Training measures
// with the same passes but has its own message (train/divergence.h).
#pragma once

#include "nn/loss.h"

namespace heed {

// Error (diverged) if `rows` has a NaN or an infinity.
void require_finite(In<float> rows);
// The same for all the logits of a loss().
void require_finite(const LossSums& sums);

}  // namespace heed
