#include "store/open_checkpoint.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "base/files.h"
#include "store/run_folder.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

// A saver as fast as this reader needs time to get out of its way, a faster one many tries.
constexpr std::chrono::seconds kPatience(10);
constexpr int kAttempts = 20;
constexpr std::chrono::milliseconds kPause(1);

// Tries until `attempt` gives something: kAttempts times at least, and for kPatience at least.
template <class Attempt>
auto beside_a_saver(const fs::path& run, Attempt attempt) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (int i = 0; i < kAttempts || std::chrono::steady_clock::now() < end; ++i) {
    if (auto result = attempt()) return std::move(*result);
    std::this_thread::sleep_for(kPause);
  }
  throw Error(Exit::store,
              fmt::format("the checkpoints of {} are replaced faster than they can be read",
                          quoted_path(run)),
              "a larger train.keep_last or train.save_every");
}

// Which folder has this name at the moment, 0: none.
ino_t inode_of(const fs::path& folder) {
  struct stat info;
  return ::stat(folder.c_str(), &info) == 0 ? info.st_ino : 0;
}

}  // namespace

std::optional<Checkpoint> open_if_there(const fs::path& folder) {
  const ino_t inode = inode_of(folder);
  try {
    return Checkpoint::open(folder);
  } catch (const Unreadable&) {
    throw;
  } catch (const Error&) {
    if (inode != 0 && inode == inode_of(folder)) throw;
    return std::nullopt;
  }
}

Checkpoint open_checkpoint(const fs::path& run, const std::string& which) {
  return beside_a_saver(run, [&]() -> std::optional<Checkpoint> {
    const fs::path folder = find_checkpoint(run, which);
    try {
      return open_if_there(folder);
    } catch (const Unreadable&) {
      throw;
    } catch (const Error& e) {
      std::error_code error;
      if (!fs::is_directory(run / "checkpoints", error)) throw;
      const std::optional<Checkpoint> whole = newest_checkpoint(run).checkpoint;
      if (!whole) throw e.as(e.exit(), "a copy; no other checkpoint of the run is whole");
      throw e.as(e.exit(),
                 fmt::format("--checkpoint step-{}, which is whole", whole->state().step));
    }
  });
}

NewestCheckpoint newest_checkpoint(const fs::path& run) {
  int empty = 0;
  return beside_a_saver(run, [&]() -> std::optional<NewestCheckpoint> {
    NewestCheckpoint result;
    const std::vector<std::int64_t> steps = list_steps(run);
    if (steps.empty() && ++empty < kAttempts) return std::nullopt;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      const fs::path folder = run / "checkpoints" / step_folder_name(*step);
      try {
        std::optional<Checkpoint> checkpoint = open_if_there(folder);
        if (!checkpoint) return std::nullopt;
        if (checkpoint->has_training() && checkpoint->state().step == *step) {
          result.checkpoint = std::move(checkpoint);
          return result;
        }
        result.damaged.push_back(
            {folder,
             folder.string() + (checkpoint->has_training()
                                    ? ": its state.json is of another step"
                                    : ": an exported model, without the optimizer's state")});
      } catch (const Unreadable&) {
        throw;
      } catch (const Error& e) {
        result.damaged.push_back({folder, e.what()});
      }
    }
    return result;
  });
}

}  // namespace heed
