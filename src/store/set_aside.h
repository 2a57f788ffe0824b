// A whole copy of a run beside it, NAME.old-K, before the run goes back to an earlier step for
// another end (train/resume.h).
#pragma once

#include <filesystem>

#include "base/files.h"

namespace heed {

// The copy's folder, K the first free number. It has the run's checkpoints (by hard link, or a copy
// where the disk has none) and its files (store/layout.h), but not the user's own; it is filled
// under another name, so it is whole or not there. Nobody may write the run meanwhile. Error
// (store) if it cannot be made; the run stays as it is.
std::filesystem::path set_aside(const std::filesystem::path& run,
                                SystemCalls& calls = system_calls());

// The newest of those beside a run: it has the same origin.json, which a run that --force renamed
// has not. "" if there is none.
std::filesystem::path set_aside_of(const std::filesystem::path& run);

}  // namespace heed
