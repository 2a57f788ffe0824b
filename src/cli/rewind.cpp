// heed rewind RUN [STEP...]
#include "train/rewind.h"

#include "base/json.h"
#include "base/std_names.h"
#include "cli/command.h"
#include "cli/output.h"
#include "store/run_folder.h"

namespace heed {

Exit run_rewind(CommandLine& line) {
  RewindRequest request;
  line.add_run(request.run, "run folder");
  line.app.add_option("STEP", request.steps, "write the checkpoints of these steps")
      ->transform(in_range<int64_t>(0, kAnyStep));
  line.app.add_flag("--log", request.log, "of steps 0, 1, 2, 4, 8, ... and the last one");
  line.add_threads();
  line.parse();
  if (request.log == !request.steps.empty())
    throw usage_error("expected either the steps to go back to, or --log for 0, 1, 2, 4, 8, ...")
        .hint("heed rewind RUN 100");
  list_steps(request.run);  // Error that names the runs there are
  request.threads = line.threads;
  request.crew = line.crew;
  Log log({.quiet = line.quiet});
  Json checkpoints = Json::array();
  const Rewound rewound = rewind(request, log);
  for (const auto& [step, folder] : rewound.steps)
    checkpoints.push_back({{"step", step}, {"checkpoint", folder.string()}});
  if (line.json)
    print_line({{"run", request.run}, {"checkpoints", checkpoints}, {"lines", rewound.lines}});
  else
    for (const Json& row : checkpoints) print(plain(row["checkpoint"]) + "\n");
  return Exit::ok;
}

}  // namespace heed
