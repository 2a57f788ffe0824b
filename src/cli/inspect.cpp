// heed inspect RUN
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "inspect/parameters.h"
#include "report/run_metrics.h"
#include "store/initial_weights.h"
#include "store/run_folder.h"
#include "store/trained_model.h"
#include "train/learning_record.h"

namespace heed {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string s = std::to_string(shape.front());
  for (std::size_t i = 1; i < shape.size(); ++i) s += " x " + std::to_string(shape[i]);
  return s;
}

std::string left(std::string s, std::size_t width) {
  s.resize(std::max(width, s.size() + 2), ' ');
  return s;
}

std::string right(const std::string& s, std::size_t width) {
  return std::string(width > s.size() ? width - s.size() : 1, ' ') + s;
}

void print_matrices(const Learning& learning) {
  std::size_t width = 8;
  for (const MatrixLearning& m : learning.matrices) width = std::max(width, m.name.size() + 2);
  print(left("matrix", width) + right("gradient", 12) + right("norm", 10) + right("update", 10) +
        right("cosine", 9) + "\n");
  for (const MatrixLearning& m : learning.matrices)
    print(left(m.name, width) + right(format_fixed(m.gradient_norm, 5), 12) +
          right(format_fixed(m.weight_norm, 3), 10) + right(format_fixed(m.update_ratio, 5), 10) +
          right(format_fixed(m.cosine, 3), 9) + "\n");
}

void print_entropy(const Learning& learning) {
  constexpr std::size_t kName = 20;
  for (const KindEntropy& e : learning.entropy) {
    if (e.heads.empty()) continue;
    std::string line = "\n" + left("entropy (nats)", kName) + right("uniform", 9);
    for (std::size_t h = 0; h < e.heads.front().size(); ++h)
      line += right("head " + std::to_string(h), 9);
    print(line + "\n");
    for (std::size_t layer = 0; layer < e.heads.size(); ++layer) {
      line = left(std::string(attention_name(e.kind)) + ", layer " + std::to_string(layer), kName) +
             right(format_fixed(e.uniform, 3), 9);
      for (const double x : e.heads[layer]) line += right(format_fixed(x, 3), 9);
      print(line + "\n");
    }
  }
}

// The last record. A schedule may end at a rate of 0: then the update ratios are those of the last
// step that moved the weights.
void print_learning(const std::vector<LearningStep>& records, bool averaged) {
  if (records.empty()) return;
  const LearningStep& last = records.back();
  const auto found = std::find_if(records.rbegin(), records.rend(),
                                  [](const LearningStep& record) { return record.moved; });
  const LearningStep& moved = found == records.rend() ? last : *found;
  Learning shown = last.learning;
  for (std::size_t i = 0; i < shown.matrices.size(); ++i)
    shown.matrices[i].update_ratio = moved.learning.matrices[i].update_ratio;
  print("\nLearning record of step " + std::to_string(last.step) +
        " (--json has those of all steps).\n" +
        (averaged
             ? "It is of the weights that are trained, not of their average (train.ema_decay), "
               "which the\ntable above is of.\n"
             : "") +
        "gradient: its norm before clipping; update: how far " +
        (moved.step == last.step ? "the step" : "step " + std::to_string(moved.step)) +
        " moved the matrix, as a share\n"
        "of its norm; cosine: to its value at step 0; entropy of a row of attention, mean over a\n"
        "piece of the held-out text (0: looks at one token), beside that of uniform attention\n\n");
  print_matrices(shown);
  print_entropy(shown);
}

}  // namespace

Exit run_inspect(CommandLine& line) {
  std::string run, checkpoint;
  bool json = false;
  line.add_run(run);
  line.add_checkpoint(checkpoint);
  line.add_json(json);
  if (!line.parse()) return Exit::ok;
  const TrainedModel m = load_trained_model(run, checkpoint);
  const std::filesystem::path folder = run_of_checkpoint(m.folder);
  const std::vector<ParameterRow> rows =
      parameter_table(m.model, m.values, initial_weights(m.model, m.config.seed, folder));
  const RunMetrics metrics = read_metrics(folder, m.state.step);
  if (json) {
    nlohmann::ordered_json learning = nlohmann::ordered_json::array();
    for (const LearningStep& record : metrics.learning) learning.push_back(json_of(record));
    print(nlohmann::ordered_json{{"checkpoint", m.folder.string()},
                                 {"step", m.state.step},
                                 {"parameters", m.model.table.size()},
                                 {"tensors", json_of(rows)},
                                 {"learning", learning}}
              .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
          "\n");
    return Exit::ok;
  }
  std::size_t width = 8;
  for (const ParameterRow& r : rows) width = std::max(width, r.name.size() + 2);
  print(m.folder.string() + ", step " + format_count(m.state.step) + ", " +
        format_count(static_cast<std::int64_t>(m.model.table.size())) + " parameters\n" +
        "norm: length of the tensor as a vector; moved: distance from its value at step 0;\n"
        "cosine: between now and step 0 (1: same direction)\n\n");
  print(left("tensor", width) + right("shape", 12) + right("norm", 10) + right("at start", 10) +
        right("moved", 10) + right("cosine", 9) + "\n");
  for (const ParameterRow& r : rows)
    print(left(r.name, width) + right(shape_text(r.shape), 12) +
          right(format_fixed(r.norm, 3), 10) + right(format_fixed(r.initial_norm, 3), 10) +
          right(format_fixed(r.distance, 3), 10) + right(format_fixed(r.cosine, 3), 9) + "\n");
  print_learning(metrics.learning, m.config.train.ema_decay > 0);
  return Exit::ok;
}

}  // namespace heed
