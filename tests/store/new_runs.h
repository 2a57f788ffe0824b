// A folder for a run and its writer, and checkpoints to save there.
#pragma once

#include <filesystem>
#include <string>

#include "base/temporary_folder.h"
#include "store/checkpoint.h"
#include "store/run_folder.h"
#include "store/run_writer.h"
#include "store/small_checkpoint.h"

namespace heed {

// A new run, in place.
inline RunWriter new_run(const std::filesystem::path& run, bool force = false,
                         const FirstFiles& first = {}) {
  RunWriter writer = RunWriter::create(run, force, first);
  writer.put_in_place();
  return writer;
}

class Writer : public ::testing::Test {
 protected:
  std::filesystem::path checkpoint(const std::string& name) const {
    return run_ / "checkpoints" / name;
  }
  std::string metrics() const { return read_file(run_ / "metrics.jsonl", 1 << 20); }
  std::string link(const std::string& name) const {
    return std::filesystem::read_symlink(checkpoint(name));
  }
  // Step `step` when the best so far was at `best`.
  static SmallModel at(int step, int best) {
    SmallModel model(step);
    if (step == best) model.state.valid_loss = 1.0 / step;
    return model;
  }

  TemporaryFolder folder_;
  std::filesystem::path run_ = folder_.path() / "deep" / "run";
};

}  // namespace heed
