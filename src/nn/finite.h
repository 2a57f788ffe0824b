// The check behind the forward pass of every command that shows what a model computes: NaN or
// infinity in its logits, or in its hidden rows where nothing else is read, ends the command.
// Training measures with the same passes and has its own words for it (train/divergence.h).
#pragma once

#include "nn/loss.h"

namespace heed {

// Error (diverged) if there is a NaN or an infinity in `rows`.
void require_finite(In<float> rows);
// The same for all the logits of a loss().
void require_finite(const LossSums& sums);

}  // namespace heed
