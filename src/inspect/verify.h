// Whether a run or one checkpoint is whole: every byte that has a checksum, every link, every
// number finite, and the parts fit each other. The checks are those of the readers themselves.
// Nothing is written, so this works on a read-only disk and beside a process that trains.
#pragma once

#include <string>
#include <vector>

namespace heed {

struct Part {
  std::string name;      // "step-00001000", "best", "metrics.jsonl"
  std::string wrong;     // a sentence on one line; "": it is whole
  bool readable = true;  // false: nothing is known about it, for want of permission
};

struct Verification {
  std::vector<Part> checkpoints;
  std::vector<Part> files;         // of a run: its links and files
  std::vector<std::string> notes;  // what is no damage, but good to know
  std::string resume;              // the checkpoint that `heed resume` would take, or ""

  bool whole() const;
};

// `run` is a run folder or a checkpoint folder. Error (Exit::store) if it is neither.
Verification verify(const std::string& run);

}  // namespace heed
