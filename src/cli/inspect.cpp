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
void print_inspection(Json result, bool averaged) {
  print_prose(fmt::format("{}, step {}, {} parameters\n", printable(plain(result["checkpoint"])),
                          format_count(result["step"]), format_count(result["parameters"])));
  const Json move = last_move(result["learning"]);
  Json& tensors = result["tensors"];
  string notes =
      "a matrix begins with random numbers (after --init-from, as another run left it), and each "
      "step moves it against the gradient; norm: length of the tensor as a vector; moved: distance "
      "from its value at step 0; cosine: between now and step 0 (1: same direction)";
  if (!move.is_null()) {
    notes += fmt::format(
        "; at step {}, the last that moved a matrix: gradient: its norm before clipping; update: "
        "how "
        "far the step moved the matrix, as a share of its norm",
        plain(move["step"]));
    for (Json& tensor : tensors)
      for (const char* key : {"gradient_norm", "update_ratio"})
        tensor[key] =
            move["matrices"].value(plain(tensor["name"]), Json::object()).value(key, Json());
  }
  if (averaged)
    notes +=
        "; the table describes the average of the trained weights (train.ema_decay), gradient and "
        "update those weights themselves";
  print_prose(notes + "\n\n");
  const Column columns[] = {
      {"tensor", "name"},
      {"norm", "norm", "{:.3f}"},
      {"moved", "distance", "{:.3f}"},
      {"cosine", "cosine", "{:.3f}", 4},
      {"gradient", "gradient_norm", "{:.5f}", 3},
      {"update", "update_ratio", "{:.5f}", 5},
      {"at start", "initial_norm", "{:.3f}", 1},
      {"shape", "shape", plain, 2},
  };
  print_table(tensors, columns);
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
  line.json ? print_line(result) : print_inspection(result, m.config.train.ema_decay > 0);
  return Exit::ok;
}

}  // namespace heed
