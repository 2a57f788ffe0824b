// heed inspect RUN
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/utf8.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "cli/table.h"
#include "show/learning_record.h"
#include "store/model.h"
#include "store/run_folder.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

std::string shape_text(const Json& shape) {
  std::vector<std::string> sizes;
  for (const Json& size : shape) sizes.push_back(size.dump());
  return joined(sizes, " x ");
}

// The tensors, and what the last record knows of a step beside them.
void print_tensors(Json tensors, const Json& learning, bool averaged) {
  std::string notes =
      "a matrix begins with random numbers (after --init-from, as another run left it), and each "
      "step moves it against the gradient; norm: length of the tensor as a vector; moved: distance "
      "from its value at step 0; cosine: between now and step 0 (1: same direction)";
  const auto take = [&](const Json& record, const char* key) {
    for (Json& tensor : tensors)
      if (const auto m = record["matrices"].find(tensor["name"].get<std::string>());
          m != record["matrices"].end())
        tensor[key] = (*m)[key];
  };
  if (!learning.empty()) {
    take(learning.back(), "gradient_norm");
    notes += "; gradient: its norm before clipping, at step " + learning.back()["step"].dump();
  }
  if (const Json moved = last_move(learning); !moved.is_null()) {
    take(moved, "update_ratio");
    notes += fmt::format("; update: how far step {} moved the matrix, as a share of its norm",
                         moved["step"].dump());
  }
  if (averaged)
    notes +=
        "; the table describes the average of the trained weights (train.ema_decay), gradient and "
        "update those weights themselves";
  print_prose(notes + "\n\n");
  const Column columns[] = {
      {"tensor", "name"},
      {"norm", "norm", fixed<3>},
      {"moved", "distance", fixed<3>},
      {"cosine", "cosine", fixed<3>, 4},
      {"gradient", "gradient_norm", fixed<5>, 3},
      {"update", "update_ratio", fixed<5>, 5},
      {"at start", "initial_norm", fixed<3>, 1},
      {"shape", "shape", shape_text, 2},
  };
  print_table(tensors, columns);
}

std::string entropies(const Json& heads) {
  std::vector<std::string> texts;
  for (const Json& nats : heads) texts.push_back(nats.is_null() ? "-" : fixed<3>(nats));
  return joined(texts, "  ");
}

void print_entropy(const Json& record) {
  print_prose(
      fmt::format("\nentropy of a row of attention at step {}, mean over a piece of the held-out "
                  "text (0: looks at one token), beside that of uniform attention\n\n",
                  record["step"].dump()));
  Json rows = Json::array();
  for (const auto& [kind, e] : record["entropy"].items())
    for (std::size_t layer = 0; layer < e["heads"].size(); ++layer)
      rows.push_back({{"name", fmt::format("{}, layer {}", kind, layer)},
                      {"uniform", e["uniform"]},
                      {"heads", e["heads"][layer]}});
  const Column columns[] = {
      {"entropy (nats)", "name"},
      {"uniform", "uniform", fixed<3>},
      {"heads 0, 1, ...", "heads", entropies, 0, Column::broken},
  };
  print_table(rows, columns);
}

void print_inspection(const Json& result, bool averaged) {
  print_prose(fmt::format("{}, step {}, {} parameters\n",
                          printable(result["checkpoint"].get<std::string>()),
                          format_count(result["step"].get<std::int64_t>()),
                          format_count(result["parameters"].get<std::int64_t>())));
  print_tensors(result["tensors"], result["learning"], averaged);
  if (!result["learning"].empty()) print_entropy(result["learning"].back());
}

}  // namespace

Exit run_inspect(CommandLine& line) {
  line.add_model();
  line.parse();
  const OpenModel m(line);
  const std::filesystem::path folder = run_of_checkpoint(m.folder);
  const Json result{// The initial weights are in no folder.
                    {"checkpoint", line.checkpoint() == "initial" ? "initial" : m.folder.string()},
                    {"step", m.state.step},
                    {"parameters", m.net.table.size()},
                    {"tensors", tensor_table(m.net.table, m.values,
                                             initial_weights(m.net, m.config.seed, folder))},
                    {"learning", learning_json(read_frames(folder, m.state.step).frames)}};
  line.json() ? print_line(result) : print_inspection(result, m.config.train.ema_decay > 0);
  return Exit::ok;
}

}  // namespace heed
