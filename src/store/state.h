// state.json of a checkpoint: where training stands, the checksum of every other file, and last
// the checksum of its own other bytes. Pure functions, safe on any bytes.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "base/std_names.h"
#include "data/batcher.h"

namespace heed {

// Its fields, as all below: base/fields.h.
void fields(Cursor& c, auto visit) {
  visit("epoch", c.epoch, "index", c.index);
}

inline constexpr double kNotMeasured = NAN;
inline constexpr int64_t kAnyStep = numeric_limits<int64_t>::max();

struct State {
  int64_t step = 0;  // steps done
  Cursor cursor;
  int64_t tokens_seen = 0;
  uint64_t seed = 0;
  // The validation of this very checkpoint; NaN: there was none, or no BLEU. What makes one
  // checkpoint of a run better than another (store/run_folder.h): a metric of which less is better
  // is negative here.
  double valid_loss = kNotMeasured, valid_metric = kNotMeasured;
  // For train.patience alone, over the validations at multiples of eval_every: the best so far (its
  // step -1: none yet), and how many there have been since.
  double best_loss = INFINITY;
  double best_metric = 0.0;
  int64_t best_step = -1;
  int64_t stalled = 0;
  bool validation_due = false;  // a signal interrupted this step's: redo it on resume
  string data_hash;
  // Tokens of the longest sentence trained on, by side, without <s> and </s>; 0 for texts.
  int64_t longest_source = 0, longest_target = 0;
  // Over the steps since the last log line: nats, and number of labels.
  double loss_sum = 0, label_sum = 0;
};
void fields(State& s, auto visit) {
  visit("step", s.step, "cursor", s.cursor, "tokens_seen", s.tokens_seen, "seed", s.seed,
        "valid_loss", s.valid_loss, "valid_metric", s.valid_metric, "best_loss", s.best_loss,
        "best_metric", s.best_metric, "best_step", s.best_step, "stalled", s.stalled,
        "validation_due", s.validation_due, "data_hash", s.data_hash, "longest_source",
        s.longest_source, "longest_target", s.longest_target, "loss_sum", s.loss_sum, "label_sum",
        s.label_sum);
}

inline constexpr int64_t kStateFormat = 5;
struct StateFile {
  State state;
  bool training = false;      // false: an exported model, cannot be resumed
  map<string, string> files;  // name -> SHA-256, without state.json itself
  int64_t format = kStateFormat;
};
void fields(StateFile& f, auto visit) {
  visit("format", f.format);
  fields(f.state, visit);
  visit("training", f.training, "files", f.files);
}

inline constexpr uint64_t kMaxStateFile = 1u << 20;

// The same StateFile always gives the same bytes; doubles keep every bit (except a NaN's payload).
string format_state(const StateFile& state);
// Throws Error (Exit::store) that names `file` and what is wrong; Unreadable if another version
// of heed wrote it.
StateFile parse_state(string_view bytes, const string& file);

}  // namespace heed
