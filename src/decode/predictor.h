// What predicts: a model with its values, alone or with others (an ensemble: --with), by the mean
// of their probabilities:
//
//   ln p = m + ln(mean over i of exp(l_i - m)),   l_i: log-probability of model i, m: the largest
//
// Scoring (evaluate/scorer.h), the decoder (decode/incremental_decoder.h) and evaluate/writing.h
// take a Predictor. There the logits of the first model become those of all, before anything reads
// them. Where all agree, to the bit, the logits stay as they are.
#pragma once

#include <vector>

#include "base/std_names.h"
#include "nn/transformer.h"

namespace heed {

struct Predictor {  // what it refers to must outlive it
  const Transformer& model;
  const ParamVec<float>& values;
  Products<float>& products = blas_products<float>();  // of scoring; a decoder has its own
  vector<Predictor> others = {};                       // without others

  Pass<float> pass(Workspace& workspace, Observer<float>* observer = nullptr) const;
  // Of rows of a batch that the others read here, into the workspace; empty without others.
  RowsChanged<float> averaging(Workspace& workspace, const Batch& batch) const;
  void take_weights(Pool& pool) const;  // before products are used with new values
  double cache_width() const;           // numbers that a decoder keeps of a token
};

// `others`: the same rows of the other models' logits.
void average_row(Mat<float> logits, const vector<Mat<float>>& others, int row);

}  // namespace heed
