// Several models that predict as one, by the mean of their probabilities:
//
//   ln p = m + ln(mean over i of exp(l_i - m)),   l_i: log-probability of model i, m: the largest
//
// The first model lists the others (Transformer::others), and its logits become those of all before
// anything reads them: in decode/incremental_decoder.h, evaluate/scorer.h and show/fill.h. Nothing
// else knows of the others. Where all models agree, to the bit, the logits stay as they are.
#pragma once

#include <vector>

#include "data/run_config.h"
#include "nn/transformer.h"

namespace heed {

// Of one row. `others`: the same rows of the other models' logits.
void average(Mat<float> logits, const std::vector<Mat<float>>& others, int row);
// Of rows of a batch that the others read here, into the workspace; empty without others.
RowsChanged<float> averaging(const Transformer& first, Workspace& workspace, const Batch& batch);

// The keys in which a config differs from that of the first model, if its model cannot read the
// same texts and predict the same labels.
std::vector<KeyChange> misfits(const RunConfig& first, const RunConfig& other);

}  // namespace heed
