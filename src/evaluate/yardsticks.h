// What much simpler predictors reach on the held-out text, so that a model's loss can be judged:
//
//   uniform   every id that the model can write is equally likely
//   unigram   how often each id is a label in training, plus one
//   N-gram    Kneser-Ney over the labels: 6-gram for characters and bytes, else 3-gram
//   xz        (size of training and held-out text as .xz, less that of the training text alone)
//
// Each is measured on exactly the labels that a validation scores, so all figures compare with the
// model's. Of pairs these are the lines of the target side, each from <s> to </s>; the source side
// is not looked at. Masked models are asked for some of the tokens only: they have the first two.
// A long training text counts with its last 5 million labels, of which the N-gram learns as many as
// it has room for, and for xz with its last 8 MiB: it does not look back further.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/pool.h"
#include "data/objective.h"

namespace heed {

struct Yardstick {
  std::string name;
  double nats_per_token = 0;
  std::optional<double> bits_per_byte;  // where the model's loss can be said in it
  std::string part = {};  // of the training text, if it knows not all: "the last 8 MiB"; not logged
};
using Yardsticks = std::vector<Yardstick>;

// None if nothing is scored, or if `stop`, which is asked all the time, ended it early. xz is left
// out if there is <unk> in the text; both it and the N-gram where there is no memory for them. The
// same for any number of threads.
Yardsticks measure_yardsticks(const Objective& objective, const Tokenizer& target,
                              const Split& train, const Split& held_out, Pool& pool,
                              const std::function<bool()>& stop = nullptr);

// Bytes that this takes, at most.
double yardsticks_memory(const Objective& objective, const Split& train, int threads);

}  // namespace heed
