// The units that runs are compared on, and what a model does on each. A pair of lines is one. Of a
// text it is a line, or where lines are short a block of them; what has no line ends is cut. A
// token belongs to the unit of its first byte, so that models with other tokenizers have the same
// units.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evaluate/comparison.h"
#include "store/trained_model.h"

namespace heed {

// A text as its tokens give it back, and where each begins.
struct SpeltText {
  std::string text;
  std::vector<std::size_t> begins;
};
SpeltText spelt(const Ids& ids, const Tokenizer& tokenizer);

// Where the units of a text end: after the line with which each has 256 bytes. Of a line of more
// than 4,096 bytes, or than an eighth of the text, after every 256 and the character that they
// end in. What is left at the end belongs to the last.
std::vector<std::size_t> unit_ends(std::string_view text);

// The unit of each token that begins there.
std::vector<std::size_t> units_at(const std::vector<std::size_t>& begins,
                                  const std::vector<std::size_t>& ends);

// For each unit its nats, its tokens, those that are judged, those that are right (as `heed
// evaluate` counts them) and its bytes, 0. `unit_of_token`: of a text. What
// span_corruption asks of a tile belongs to the unit in which the tile begins.
System unit_sums(const TrainedModel& model, const Objective& objective, const Split& split,
                 const std::vector<std::size_t>& unit_of_token, Pool& pool);

}  // namespace heed
