// heed inspect RUN
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "inspect/parameters.h"
#include "train/trained_model.h"

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

}  // namespace

Exit run_inspect(CommandLine& line) {
  std::string run, checkpoint;
  bool json = false;
  line.add_run(run);
  line.add_checkpoint(checkpoint);
  line.add_json(json);
  if (!line.parse()) return Exit::ok;
  const TrainedModel m = load_trained_model(run, checkpoint);
  const std::vector<ParameterRow> rows = parameter_table(m.model, m.values, m.config.seed);
  if (json) {
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
                                 {"tensors", tensors}}
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
  return Exit::ok;
}

}  // namespace heed
