#include "store/run.h"

#include "base/std_names.h"
#include "store/model.h"
#include "store/run_folder.h"
#include "store/run_writer.h"

namespace heed {

Run read_run(const fs::path& folder, int64_t up_to) {
  Run run{.folder = folder, .states = states_of(folder, up_to)};
  run.best = best_of(run.states);
  run.damaged = up_to == kAnyStep && run.states.size() < list_steps(folder).size();
  run.config = config_of_run(folder);
  run.origin = read_origin(folder.string());
  run.logged = read_events(folder, up_to);
  run.locked = is_locked(folder);
  return run;
}

}  // namespace heed
