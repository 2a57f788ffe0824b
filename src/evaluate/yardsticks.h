// What much simpler predictors reach on the held-out text, so that a model's loss can be judged:
//
//   uniform   every id that the model can write is equally likely
//   unigram   how often each id is a label in training, plus one
//   N-gram    Kneser-Ney over the labels: 6-gram for characters and bytes, else 3-gram
//   xz        (size of training and held-out text as .xz, less that of the training text alone)
//
// Each is measured on exactly the labels that a validation scores, so all figures compare with the
// model's. With pairs these are the lines of the target side, each from <s> to </s>; the source
// side is ignored. A masked model predicts only some of the tokens, so it has the first two only.
// Of a long training text only the last 5 million labels count (the N-gram learns as many of them
// as fit), and for xz the last 8 MiB, as far back as it looks.
//
// They are a record of the run (store/run_records.h).
#pragma once

#include <functional>
#include <string>

#include "base/pool.h"
#include "base/std_names.h"
#include "data/objective.h"
#include "store/run_records.h"

namespace heed {

// Empty if nothing is scored, or if `stop`, which is called very often, ended it early. xz is left
// out if the text contains <unk>; xz and the N-gram if there is no memory for them. The same for
// any number of threads.
Yardsticks measure_yardsticks(
    const Objective& objective, const Tokenizer& target, const Split& train, const Split& held_out,
    Pool& pool, const function<bool()>& stop = [] { return false; });

// "1.8231 nats per token: better than uniform (4.29) and 6-gram (2.01), not better than xz
// (1.75)"
string compared(double loss, const Yardsticks& yardsticks);

// The most bytes that measuring takes.
double yardsticks_memory(const Objective& objective, const Split& train, int threads);

}  // namespace heed
