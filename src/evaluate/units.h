// The units that runs are compared on, and what a model does on each. A pair of lines is one. Of a
// text it is a line, or where lines are short a block of them; what has no line ends is cut. A
// token belongs to the unit of its first byte, so that models with other tokenizers have the same
// units.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "decode/beam.h"
#include "evaluate/comparison.h"
#include "evaluate/test_text.h"

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

// Copies are one unit, which is drawn with all of them: the sums of rows with equal keys.
template <class Key>
System merged(const System& rows, const std::vector<Key>& keys) {
  System units;
  std::map<Key, std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t place = places.emplace(keys[i], units.size()).first->second;
    units.resize(places.size());
    units[place] += rows[i];
  }
  return units;
}

// For each unit its nats, its tokens, those that are judged, those that are right (as `heed
// evaluate` counts them) and, of a text, its bytes. `text`: unless it is pairs. What
// span_corruption asks of a tile belongs to the unit in which the tile begins.
System unit_sums(const Model& model, const Objective& objective, const Split& split,
                 const SpeltText& text, Pool& pool);

// The place among pairs of the one on a line.
std::size_t pair_on(const Pairs& pairs, std::size_t line);

// The counts of the translation of each of the split's pairs, against the written targets.
struct TranslatedPairs {
  System counts;
  std::vector<TokenIds> not_ended;  // the sources of translations that were cut
};
TranslatedPairs translate_pairs(const Model& model, const Split& split, const Pairs& written,
                                const BeamOptions& beam, const BleuOptions& how, Pool& pool);

}  // namespace heed
