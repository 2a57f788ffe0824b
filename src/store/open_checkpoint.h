// Opening the checkpoints of a run while another process saves and removes them: retries what
// failed because a link or a folder moved. Nothing here writes. Unreadable is never treated as
// damage.
#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "store/checkpoint.h"

namespace heed {

// Opens a checkpoint folder; nullopt if it does not exist or a saver removed it meanwhile. Error
// (Exit::store) on a damaged one.
std::optional<Checkpoint> open_if_there(const std::filesystem::path& folder);

// Opens the checkpoint that find_checkpoint() finds. The Error (Exit::store) on a damaged one names
// the newest step of the run that is whole.
Checkpoint open_checkpoint(const std::filesystem::path& run, const std::string& which = "");

struct DamagedCheckpoint {
  std::filesystem::path folder;
  std::string reason;
};

struct NewestCheckpoint {
  std::optional<Checkpoint> checkpoint;    // the newest whole step that can be resumed
  std::vector<DamagedCheckpoint> damaged;  // newer ones that are not, newest first
};
// Of those of steps up to one.
NewestCheckpoint newest_checkpoint(const std::filesystem::path& run,
                                   std::int64_t up_to = std::numeric_limits<std::int64_t>::max());

}  // namespace heed
