// heed inspect RUN
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "inspect/parameters.h"
#include "report/run_metrics.h"
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

// A value of the record as people read it; null is a number that was none.
std::string value_text(const nlohmann::ordered_json& x, int digits) {
  return x.is_number() ? format_fixed(x.get<double>(), digits) : "nan";
}

void print_matrices(const nlohmann::ordered_json& record) {
  std::size_t width = 8;
  for (const auto& [name, m] : record["matrices"].items()) width = std::max(width, name.size() + 2);
  print(left("matrix", width) + right("gradient", 12) + right("norm", 10) + right("update", 10) +
        right("cosine", 9) + "\n");
  for (const auto& [name, m] : record["matrices"].items())
    print(left(name, width) + right(value_text(m["gradient_norm"], 5), 12) +
          right(value_text(m["weight_norm"], 3), 10) + right(value_text(m["update_ratio"], 5), 10) +
          right(value_text(m["cosine"], 3), 9) + "\n");
}

void print_entropy(const nlohmann::ordered_json& record) {
  constexpr std::size_t kName = 20;
  for (const auto& [kind, e] : record["entropy"].items()) {
    std::size_t layer = 0;
    for (const auto& heads : e["heads"]) {
      if (layer == 0) {
        std::string line = "\n" + left("entropy (nats)", kName) + right("uniform", 9);
        for (std::size_t h = 0; h < heads.size(); ++h)
          line += right("head " + std::to_string(h), 9);
        print(line + "\n");
      }
      std::string line = left(kind + ", layer " + std::to_string(layer++), kName) +
                         right(value_text(e["uniform"], 3), 9);
      for (const auto& x : heads) line += right(value_text(x, 3), 9);
      print(line + "\n");
    }
  }
}

void print_learning(const nlohmann::ordered_json& last, bool averaged) {
  if (last.is_null()) return;
  print("\nLearning record of step " + std::to_string(last["step"].get<std::int64_t>()) +
        " (--json has those of all steps).\n" +
        (averaged
             ? "It is of the weights that are trained, not of their average (train.ema_decay), "
               "which the\ntable above is of.\n"
             : "") +
        "gradient: its norm before clipping; update: how far " +
        (last.contains("update_step")
             ? "step " + std::to_string(last["update_step"].get<std::int64_t>())
             : "the step") +
        " moved the matrix, as a share\n"
        "of its norm; cosine: to its value at step 0; entropy of a row of attention, mean over a\n"
        "piece of the held-out text (0: looks at one token), beside that of uniform attention\n\n");
  print_matrices(last);
  print_entropy(last);
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
  if (json) {
    nlohmann::ordered_json metrics = read_metrics(folder, m.state.step);
    nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
    for (const ParameterRow& r : rows)
      tensors.push_back({{"name", r.name},
                         {"shape", r.shape},
                         {"norm", r.norm},
                         {"initial_norm", r.initial_norm},
                         {"distance", r.distance},
                         {"cosine", r.cosine},
                         {"mean", r.mean},
                         {"deviation", r.deviation}});
    print(nlohmann::ordered_json{{"checkpoint", m.folder.string()},
                                 {"step", m.state.step},
                                 {"parameters", m.model.table.size()},
                                 {"tensors", tensors},
                                 {"learning", take_learning_records(metrics)}}
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
  print_learning(last_learning_record(folder, m.state.step), m.config.train.ema_decay > 0);
  return Exit::ok;
}

}  // namespace heed
