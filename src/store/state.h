// state.json of a checkpoint: where training stands, the checksum of every other file, and last
// the checksum of its own other bytes. Pure functions, safe on any bytes.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "data/batcher.h"

namespace heed {

struct State {
  std::int64_t step = 0;  // steps done
  Cursor cursor;
  std::int64_t tokens_seen = 0;
  std::uint64_t seed = 0;
  // The validation of this very checkpoint; NaN: there was none, or no BLEU. What makes one
  // checkpoint of a run better than another (store/run_folder.h).
  double valid_loss = std::numeric_limits<double>::quiet_NaN();
  double valid_metric = std::numeric_limits<double>::quiet_NaN();
  // For train.patience alone, over the validations at multiples of eval_every: the best so far (its
  // step -1: none yet), and how many there have been since.
  double best_loss = std::numeric_limits<double>::infinity();
  double best_metric = 0.0;
  std::int64_t best_step = -1;
  std::int64_t stalled = 0;
  bool validation_due = false;  // a signal interrupted this step's: redo it on resume
  std::string data_hash;
  // Tokens of the longest sentence trained on, by side, without <s> and </s>; 0 for texts.
  std::int64_t longest_source = 0, longest_target = 0;
  // Over the steps since the last log line: nats, and number of labels.
  double loss_sum = 0, label_sum = 0;
};

struct StateFile {
  State state;
  bool training = false;                     // false: an exported model, cannot be resumed
  std::map<std::string, std::string> files;  // name -> SHA-256, without state.json itself
};

inline constexpr std::uint64_t kMaxStateFile = 1u << 20;

// The same StateFile always gives the same bytes; doubles keep every bit (except a NaN's payload).
std::string format_state(const StateFile& state);
// Throws Error (Exit::store) that names `file` and what is wrong; Unreadable if another version
// of heed wrote it.
StateFile parse_state(std::string_view bytes, const std::string& file);

}  // namespace heed
