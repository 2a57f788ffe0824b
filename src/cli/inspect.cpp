// heed inspect RUN

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "show/learning_record.h"
#include "store/model.h"
#include "store/run_folder.h"

namespace heed {
namespace {

// The tensors, and what the last record knows of a step beside them.
void print_inspection(Json result) {
  const Json move = last_move(result["learning"]);
  Json& tensors = result["tensors"];
  for (Json& tensor : tensors)
    for (const char* key : {"gradient_norm", "update_ratio"})
      if (!move.is_null())
        tensor[key] =
            move["matrices"].value(plain(tensor["name"]), Json::object()).value(key, Json());
  print_prose(fmt::format(
      "{}, step {}, {} parameters{}\n\n", printable(plain(result["checkpoint"])),
      format_count(result["step"]), format_count(result["parameters"]),
      move.is_null()
          ? ""
          : fmt::format("; gradient and update: at step {}, the last that moved a matrix",
                        plain(move["step"]))));
  print_table(tensors, {{"tensor", "name"},
                        {"norm", "norm", "{:.3f}"},
                        {"moved", "distance", "{:.3f}"},
                        {"cosine", "cosine", "{:.3f}", 4},
                        {"gradient", "gradient_norm", "{:.5f}", 3},
                        {"update", "update_ratio", "{:.5f}", 5},
                        {"at start", "initial_norm", "{:.3f}", 1},
                        {"shape", "shape", plain, 2}});
}

}  // namespace

Exit run_inspect(CommandLine& line) {
  line.add_model();
  line.parse();
  const OpenModel m(line);
  const fs::path folder = run_of_checkpoint(m.folder);
  const Json result{// The initial weights are in no folder.
                    {"checkpoint", line.checkpoint == "initial" ? "initial" : m.folder.string()},
                    {"step", m.state.step},
                    {"parameters", m.net.table.size()},
                    {"tensors", tensor_table(m.net.table, m.values,
                                             initial_weights(m.net, m.config.seed, folder))},
                    {"learning", learning_json(read_frames(folder, m.state.step).frames)}};
  line.json ? print_line(result) : print_inspection(result);
  return Exit::ok;
}

}  // namespace heed
