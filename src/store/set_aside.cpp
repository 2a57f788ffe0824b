#include "store/set_aside.h"

#include <algorithm>

#include "base/folders.h"
#include "base/input_file.h"
#include "store/layout.h"
#include "store/origin.h"
#include "store/run_folder.h"
#include "store/run_writer.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

void link_or_copy(const fs::path& from, const fs::path& to, SystemCalls& calls) {
  if (repeat_if_interrupted([&] { return calls.link(from.c_str(), to.c_str()); }) == 0) return;
  copy_file(from, to, calls);
}

// Files, links and folders. Those of checkpoints, and of a training that has ended, never change,
// so they may be the same.
void copy_folder(const fs::path& from, const fs::path& to, SystemCalls& calls) {
  make_folder(to, calls);
  for (const std::string& name : names_in(from)) {
    const fs::file_type type = type_of(from / name);
    const bool half_removed =
        name.starts_with(kStepPrefix) && !path_exists(from / name / kStateFile);
    if (name.starts_with(".tmp-") || half_removed) continue;
    if (type == fs::file_type::directory) copy_folder(from / name, to / name, calls);
    if (type == fs::file_type::regular) link_or_copy(from / name, to / name, calls);
    if (type == fs::file_type::symlink)
      replace_symlink(to / name, fs::read_symlink(from / name).string(), calls);
  }
  sync_folder(to, calls);
}

}  // namespace

fs::path set_aside(const fs::path& run, SystemCalls& calls) {
  const fs::path place = free_name(run);
  const auto fill = [&](const fs::path& copy) {
    copy_folder(run / kCheckpoints, copy / kCheckpoints, calls);
    for (const char* name : kRunFiles) {
      const fs::file_type type = type_of(run / name);
      if (type == fs::file_type::directory) copy_folder(run / name, copy / name, calls);
      if (name != std::string_view(kLockFile) && type == fs::file_type::regular)
        copy_file(run / name, copy / name, calls);
    }
  };
  make_whole_folder(place, "", fill, calls);
  return place;
}

fs::path set_aside_of(const fs::path& run) {
  const auto begun = [](const fs::path& folder) {
    return is_run(folder) && type_of(folder / kOriginFile) == fs::file_type::regular
               ? read_file(folder / kOriginFile, kMaxOriginFile)
               : "";
  };
  const std::string own = begun(run), prefix = run.filename().string() + ".old-";
  fs::path newest;
  for (const std::string& name : names_of_runs(folder_of(run), true))
    if (name.starts_with(prefix) && !own.empty() && begun(run.parent_path() / name) == own &&
        (newest.empty() || name.size() >= newest.filename().string().size()))
      newest = run.parent_path() / name;
  return newest;
}

}  // namespace heed
