// The units that runs are compared on, and what a model does on each. A pair of lines is one. Of a
// text it is a line, or where lines are short a block of them; what has no line ends is cut. A
// token belongs to the unit of its first byte, so that models with other tokenizers have the same
// units.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/comparison.h"
#include "store/trained_model.h"

namespace heed {

// Where the units of a text end: after the line with which each has 256 bytes. Of a line of more
// than 4,096 bytes, or than an eighth of the text, after every 256 and the character that they
// end in. What is left at the end belongs to the last.
std::vector<std::size_t> unit_ends(std::string_view text);

// A text as its tokens give it back (� for an unknown one), where each begins, and where its units
// end.
struct SpeltText {
  std::string text;
  std::vector<std::size_t> begins, ends;
  std::size_t unit_of(std::size_t token) const {
    return std::upper_bound(ends.begin(), ends.end() - 1, begins[token]) - ends.begin();
  }
};
SpeltText spelt(const Ids& ids, const Tokenizer& tokenizer);

// For each unit its nats, its tokens, those that are judged, those that are right (as `heed
// evaluate` counts them) and its bytes, 0. `text`: unless it is pairs. What span_corruption asks of
// a tile belongs to the unit in which the tile begins.
System unit_sums(const TrainedModel& model, const Objective& objective, const Split& split,
                 const SpeltText& text, Pool& pool);

}  // namespace heed
