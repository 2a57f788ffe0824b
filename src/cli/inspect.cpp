// heed inspect RUN
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/open_model.h"
#include "cli/output.h"
#include "cli/table.h"
#include "show/film.h"
#include "show/parameters.h"
#include "store/initial_weights.h"
#include "store/run_folder.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

std::string shape_text(const Json& shape) {
  std::vector<std::string> sizes;
  for (const Json& size : shape) sizes.push_back(size.dump());
  return joined(sizes, " x ");
}

void print_tensors(const Json& tensors) {
  const Column columns[] = {
      {"tensor", "name"},
      {"shape", "shape", shape_text, 2},
      {"norm", "norm", fixed<3>},
      {"at start", "initial_norm", fixed<3>, 1},
      {"moved", "distance", fixed<3>},
      {"cosine", "cosine", fixed<3>, 3},
  };
  print_table(tensors, columns);
}

// Rows of {"name", ...} from {NAME: {...}}.
Json rows_of(const Json& named) {
  Json rows = Json::array();
  for (const auto& [name, numbers] : named.items()) {
    rows.push_back({{"name", name}});
    rows.back().update(numbers);
  }
  return rows;
}

void print_matrices(const Json& matrices) {
  const Column columns[] = {
      {"matrix", "name"},
      {"gradient", "gradient_norm", fixed<5>, 2},
      {"norm", "weight_norm", fixed<3>, 1},
      {"update", "update_ratio", fixed<5>},
      {"cosine", "cosine", fixed<3>},
  };
  print_table(rows_of(matrices), columns);
}

std::string entropies(const Json& heads) {
  std::vector<std::string> texts;
  for (const Json& nats : heads) texts.push_back(nats.is_null() ? "-" : fixed<3>(nats));
  return joined(texts, "  ");
}

void print_entropy(const Json& entropy) {
  Json rows = Json::array();
  for (const auto& [kind, e] : entropy.items())
    for (std::size_t layer = 0; layer < e["heads"].size(); ++layer)
      rows.push_back({{"name", fmt::format("{}, layer {}", kind, layer)},
                      {"uniform", e["uniform"]},
                      {"heads", e["heads"][layer]}});
  const Column columns[] = {
      {"entropy (nats)", "name"},
      {"uniform", "uniform", fixed<3>},
      {"heads 0, 1, ...", "heads", entropies, 0, Column::broken},
  };
  if (rows.empty()) return;
  print("\n");
  print_table(rows, columns);
}

// The last record. A schedule may end at rate 0; the update ratios are then those of the last step
// that moved the weights.
void print_learning(const Json& records, bool averaged) {
  const Json& last = records.back();
  const auto moves = [](const Json& record) {
    return std::any_of(record["matrices"].begin(), record["matrices"].end(),
                       [](const Json& m) { return m["update_ratio"] > 0; });
  };
  const auto found = std::find_if(records.rbegin(), records.rend(), moves);
  const Json& moved = found == records.rend() ? last : *found;
  Json matrices = last["matrices"];
  for (const auto& [name, m] : matrices.items())
    if (m["update_ratio"] == 0) m["update_ratio"] = moved["matrices"][name]["update_ratio"];
  print_prose(fmt::format("\nLearning record of step {} (--json has those of all steps).\n",
                          last["step"].dump()));
  if (last["entropy"].empty())
    print_prose(
        "It has no frame in the film: the gradient, the update and the entropy are not known.\n");
  else if (averaged)
    print_prose(
        "It describes the trained weights; the table above describes their average "
        "(train.ema_decay), and so does the entropy.\n");
  print_prose(fmt::format(
      "gradient: norm before clipping; update: how far {} moved the matrix, as a share of its "
      "norm; cosine: to its value at step 0; entropy of a row of attention, mean over a piece of "
      "the held-out text (0: looks at one token), beside that of uniform attention\n\n",
      moved["step"] == last["step"] || last["entropy"].empty() ? "the step"
                                                               : "step " + moved["step"].dump()));
  print_matrices(matrices);
  print_entropy(last["entropy"]);
}

void print_inspection(const Json& result, bool averaged) {
  print_prose(fmt::format("{}, step {}, {} parameters\n",
                          printable(result["checkpoint"].get<std::string>()),
                          format_count(result["step"].get<std::int64_t>()),
                          format_count(result["parameters"].get<std::int64_t>())));
  print_prose(
      "norm: length of the tensor as a vector; moved: distance from its value at step 0; "
      "cosine: between now and step 0 (1: same direction)\n\n");
  print_tensors(result["tensors"]);
  print_learning(result["learning"], averaged);
}

}  // namespace

Exit run_inspect(CommandLine& line) {
  line.add_model();
  if (!line.parse()) return Exit::ok;
  const OpenModel m(line);
  const std::filesystem::path folder = run_of_checkpoint(m.folder);
  // The initial weights are in no folder.
  const std::string name = line.checkpoint() == "initial" ? "initial" : m.folder.string();
  const ParamVec<float> initial = initial_weights(m.model, m.config.seed, folder);
  const std::vector<ParameterRow> rows = parameter_table(m.model, m.values, initial);
  std::vector<LearningStep> records = learning_steps(read_film(folder, m.state.step));
  // Between frames, and of weights that no step left, only norms and cosines are known.
  const bool of_step = checkpoint_name(m.folder) == step_folder_name(m.state.step);
  if (records.empty() || records.back().step != m.state.step || !of_step)
    records.push_back({m.state.step, {record_of(m.model.table, m.values, initial), {}}});
  Json learning = Json::array();
  for (const LearningStep& record : records) learning.push_back(json_of(record));
  const Json result{{"checkpoint", name},
                    {"step", m.state.step},
                    {"parameters", m.model.table.size()},
                    {"tensors", json_of(rows)},
                    {"learning", learning}};
  line.json() ? print_line(result) : print_inspection(result, m.config.train.ema_decay > 0);
  return Exit::ok;
}

}  // namespace heed
