#include "store/open_checkpoint.h"

#include <fmt/core.h>

#include "base/files.h"
#include "base/folders.h"
#include "store/layout.h"
#include "store/run_folder.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

constexpr int kTries = 3;      // while another process saves and removes checkpoints
constexpr int kMostGone = 50;  // checkpoints that are removed while they are read

// One pass over a run, newest step first; nullopt if a step was removed meanwhile.
std::optional<NewestCheckpoint> look_for_newest(const fs::path& run, std::int64_t up_to) {
  NewestCheckpoint result;
  std::vector<std::int64_t> steps = list_steps(run);
  std::erase_if(steps, [&](std::int64_t step) { return step > up_to; });
  for (auto step = steps.rbegin(); step != steps.rend() && !result.checkpoint; ++step) {
    const fs::path folder = run / kCheckpoints / step_folder_name(*step);
    std::string reason;
    try {
      std::optional<Checkpoint> checkpoint = open_if_there(folder);
      if (!checkpoint) return std::nullopt;
      if (!checkpoint->has_training())
        reason = ": an exported model, without the optimizer's state";
      else if (checkpoint->state().step != *step)
        reason = ": its state.json is of another step";
      else
        result.checkpoint = std::move(checkpoint);
      if (!reason.empty()) reason = folder.string() + reason;
    } catch (const Unreadable&) {
      throw;
    } catch (const Error& e) {
      reason = e.what();
    }
    if (!reason.empty()) result.damaged.push_back({folder, reason});
  }
  return result;
}

}  // namespace

std::optional<Checkpoint> open_if_there(const fs::path& folder) {
  std::error_code none;
  for (int left = kTries;; --left) {
    const auto before = fs::last_write_time(folder, none);
    try {
      return Checkpoint::open(folder);
    } catch (const Error&) {
      if (!path_exists(folder)) return std::nullopt;
      const bool replaced = fs::last_write_time(folder, none) != before;
      if (!replaced || left == 1) throw;
    }
  }
}

Checkpoint open_checkpoint(const fs::path& run, const std::string& which) {
  int gone = 0;
  for (int left = kTries;; --left) {
    fs::path folder;
    try {
      folder = find_checkpoint(run, which);
      return Checkpoint::open(folder);
    } catch (const Unreadable&) {
      throw;
    } catch (const Error& e) {
      if (!folder.empty() && !path_exists(folder) && ++gone < kMostGone) left = kTries;
      if (left > 1) continue;
      std::error_code error;
      if (folder.empty() || !fs::is_directory(run / kCheckpoints, error)) throw;
      const std::optional<Checkpoint> whole = newest_checkpoint(run).checkpoint;
      if (!whole) throw e.as(e.exit(), "a copy; no other checkpoint of the run is whole");
      throw e.as(e.exit(),
                 fmt::format("--checkpoint step-{}, which is whole", whole->state().step));
    }
  }
}

NewestCheckpoint newest_checkpoint(const fs::path& run, std::int64_t up_to) {
  std::optional<NewestCheckpoint> found;
  // A folder listed while its checkpoints are replaced may seem empty.
  for (int left = kTries; left > 0 && (!found || !found->checkpoint); --left)
    found = look_for_newest(run, up_to);
  if (!found)
    throw Error(Exit::store,
                fmt::format("the checkpoints of {} kept being replaced while they were read.",
                            quoted_path(run)),
                "the same command again");
  return std::move(*found);
}

}  // namespace heed
