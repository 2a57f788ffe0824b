// heed whence: which lines of the training taught the model an answer. The derivative of the
// answer's log-probability by the weight of every line follows from one pass backwards through the
// training, because a training repeats to the byte (MAGIC: Ilyas and Engstrom 2025).
//
// A unit u (a pair, or a line of a text; a label belongs to the line of its first byte) has a
// weight a_u = 1. Step t minimises, with l_r the smoothed loss of row r and N_t the labels of the
// step,
//
//   L_t = 1/N_t sum_r a_u(r) l_r
//
// a_u = 0 leaves u out: its labels become -1, and all else stays: N_t, batches, order, dropout,
// rates, the number of steps; the text is still read as context. Phi is the log-probability of the
// answer, in double, under the weights that the checkpoint uses (with EMA the averaged ones).
// Leaving u out should cost Phi(1) - Phi(0), about dPhi/da_u: positive where the unit helps.
//
// Forwards, step t makes of weights w, moments m and v, and averaged weights e
//
//   g = grad L_t(w),   d = c g,   c = min(1, C / (|g| + 1e-6))        clipping by the global norm
//   (w, m, v) <- update(w, m, v, d)                                   step/optimizers.h
//   e <- b e + (1 - b) w
//
// Backwards, dx is the derivative of Phi by x. After the last step dw (with EMA de) is grad Phi,
// all else 0. Then, for t = n, ..., 1:
//
//   dw += (1 - b) de,   de <- b de
//   (dw, dm, dv) and dd by the reverse of the update                  step/optimizers.cpp
//   h = c dd  -  [c < 1] c (dd . g) / (|g| (|g| + 1e-6)) g            h = dg; c depends on g, too
//   dw += H h,   H the Hessian of L_t
//   dPhi/da_u += 1/N_t sum over the rows r of u of  h . grad l_r
//
// What the last two need comes from the same two passes in double, at w + eps h and w - eps h:
//
//   H h          = (grad L_t(w + eps h) - grad L_t(w - eps h)) / 2 eps  + O(eps^2)
//   h . grad l_r = (l_r(w + eps h) - l_r(w - eps h)) / 2 eps            + O(eps^2)
//
// |eps h| is 1e-5: what is left out is then about 1e-8 of the result where losses bend over
// distances of 0.1, and the rounding of double, 1e-16 / 1e-5, is less than that.
//
// The training that is differentiated is the run's own: its steps are done again in float, byte for
// byte (the command insists that the checkpoint comes out), and every step is linearised in double
// at the weights that it really had. So what rounding added to each step counts as a constant. A
// second training in double would drift away from the run, and explain another model.
//
// The steps are done twice: once to keep the state of every sqrt(n)-th, and then, from the last one
// back, each stretch again, whose steps are all kept until they are reversed. With two passes in
// double (each about two in float) that is the time of six trainings, for all units at once.
#pragma once

#include <functional>
#include <vector>

#include "base/std_names.h"
#include "data/batcher.h"
#include "show/explain.h"
#include "step/stepper.h"

namespace heed {

struct Unit {
  vector<int64_t> lines;  // of the training data as it was read, from 1
  string text;            // as the model knows it; a pair's sides are separated by a tab
};

struct Units {
  vector<Unit> all;
  vector<int> of_token;  // of a text; of pairs, the place of a label is its unit

  int of(int64_t place) const { return of_token.empty() ? int(place) : of_token[size_t(place)]; }
};
Units units_of(const Split& split, const Tokenizers& tokenizers);

using LeftOut = vector<bool>;  // of each unit; empty: none is

// The batches of a training, with units left out.
class UnitBatches {
 public:
  // References must outlive it.
  UnitBatches(const Objective& objective, const Split& split, const RunConfig& config,
              const Units& units)
      : objective_(objective), split_(split), units_(units), batcher_(objective, split, config) {}

  // Any step up to the one after the furthest so far. Valid until the next call.
  const StepBatch& batch(int64_t step, const LeftOut& left_out = {});
  // The unit of each of its rows; -1: the row is not scored.
  const vector<int>& rows() const { return rows_; }

 private:
  const Objective& objective_;
  const Split& split_;
  const Units& units_;
  Batcher batcher_;
  vector<Cursor> cursors_{{}};  // where steps 1, 2, ... begin
  StepBatch batch_;
  vector<int> rows_;
};

// What is trained, again and again. References must outlive it.
struct TrainingSetup {
  const Transformer& model;
  const StepOptions options;
  const Crew& crew;
  UnitBatches& batches;
  size_t units;
  int64_t steps;
  const ParamVec<float>& begin;  // weights
  // After each step, done or reversed: how many trained steps its time was.
  function<void(double)> worked = [](double) {};
};

// One training, step after step: gradient(), then update().
template <class T>
struct Retraining {
  explicit Retraining(const TrainingSetup& setup);

  // Of L_t, left in gradients.sum(); its norm.
  double gradient(int64_t step, const LeftOut& left_out = {});
  void update(int64_t step, double norm);

  ParamVec<T>& used() { return averaged ? *averaged : values; }
  vector<ParamVec<T>*> numbers() {  // values and moments
    return appended(vector{&values}, mapped(optimizer.moment_arrays(), [](auto& m) { return &m; }));
  }

  const TrainingSetup& setup;
  Gradients<T> gradients;
  Optimizer<T> optimizer;
  ParamVec<T> values;
  optional<ParamVec<T>> averaged;
};

// Phi at these weights. Adds its gradient.
using Phi = function<double(const ParamVec<double>& weights, ParamVec<double>& gradient)>;

// The sum of the log-probabilities of the first of these answers.
Phi answers_of(const Transformer& model, vector<Prediction> predictions);

// Error (usage) if the optimizer has no reverse.
void require_reverse(const TrainingSetup& setup);

// dPhi/da_u of every unit. T: of the training; in double only to check it.
template <class T>
vector<double> influences(const TrainingSetup& setup, const Phi& answer);
double influence_memory(const TrainingSetup& setup);  // bytes that it takes, in float

// Phi after a training without some units.
double retrained(const TrainingSetup& setup, const Phi& answer, const LeftOut& left_out);

}  // namespace heed
