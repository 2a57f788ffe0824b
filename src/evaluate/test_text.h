// The text that models are measured on: what their run held out, or what a user names
// (evaluate, compare, ablate; score reads a user's lines, cli/answers.h). Reading it tells the log
// what must be known of it: that the data has changed since the model was trained, which of its
// lines the model was trained on, what became <unk>.
//
// A unit of it, on which models are compared, is a pair of lines; of a text a line, or where lines
// are short a block of them; what has no line ends is cut. A token belongs to the unit of its first
// byte, so that models with other tokenizers have the same units.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/std_names.h"
#include "data/dataset.h"
#include "evaluate/comparison.h"
#include "store/model.h"

namespace heed {

// The data of the model's run, where it is now (data_place()).
struct RunData : Dataset {
  string change;  // says that it is not what the run was trained on, or ""
};
RunData run_data(Model& model);

// The lines, or pairs, of the training data of `run` and of the runs whose weights it began with,
// as far as they can still be read; beside those that are `read` already.
struct TrainingLines : LineFacts {
  string missing;  // why not all are here, or ""
};
TrainingLines training_lines(string run, LineFacts read = {});

// What a user names, for one model or several.
struct NamedText {
  vector<string> files = {}, target_files = {};  // none: what each run held out
  optional<Pairs> pairs = {};  // as they are written: read once, as they may come from a pipe
  set<string> told = {};       // to the log

  vector<string> all_files() const { return appended(files, target_files); }
};
const Pairs& written_pairs(const Model& model, NamedText& named);

struct TestText {
  Split split;
  optional<RunData> run;  // without `valid`, if that is it; none: it cannot be read
  double seen = 0;        // the share of its lines, or pairs, that the model was trained on
};
// Error (usage) if nothing is named or held out, or the model reads no such files.
TestText test_text(Model& model, NamedText& named, const Pool& pool, Log& log);

// Where the units of a text end: after the line with which each has 256 bytes. Of a line of more
// than 4,096 bytes, or than an eighth of the text, after every 256 and the character that they
// end in. What is left at the end belongs to the last.
vector<size_t> unit_ends(string_view text);

// A text as its tokens give it back (� for an unknown one), where each begins, and where its units
// end.
struct SpeltText {
  string text;
  vector<size_t> begins, ends;
  size_t unit_of(size_t token) const {
    return std::upper_bound(ends.begin(), ends.end() - 1, begins[token]) - ends.begin();
  }
};
SpeltText spelt(const Ids& ids, const Tokenizer& tokenizer);

// For each unit its nats, its tokens, those that are judged, those that are right (as `heed
// evaluate` counts them) and, of a text, its bytes. `text`: unless it is pairs. What
// span_corruption asks of a tile belongs to the unit in which the tile begins.
System unit_sums(const Model& model, const Objective& objective, const Split& split,
                 const SpeltText& text, Pool& pool);

// The place among pairs of the one on a line.
size_t pair_on(const Pairs& pairs, size_t line);

}  // namespace heed
