// heed inspect RUN
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "cli/command.h"
#include "cli/open_model.h"
#include "cli/output.h"
#include "show/film.h"
#include "show/parameters.h"
#include "store/initial_weights.h"
#include "store/run_folder.h"

namespace heed {
namespace {

// The width of the name column.
template <class Rows>
std::size_t name_width(const Rows& rows) {
  std::size_t width = 8;
  for (const auto& row : rows) width = std::max(width, row.name.size() + 2);
  return width;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : shape) sizes.push_back(std::to_string(size));
  return joined(sizes, " x ");
}

// A row of a table, a name and columns of these widths, without the columns that do not fit.
void print_row(const std::string& row, std::size_t name, std::initializer_list<int> widths) {
  for (const int width : widths)
    if (static_cast<int>(name) + 1 + width <= output_columns()) name += 1 + width;
  print((std::ssize(row) > output_columns() ? row.substr(0, name) : row) + "\n");
}

void print_matrices(const Learning& learning) {
  const std::size_t width = name_width(learning.matrices);
  const auto columns = {11, 9, 9, 8};
  print_row(fmt::format("{:{}} {:>11} {:>9} {:>9} {:>8}", "matrix", width, "gradient", "norm",
                        "update", "cosine"),
            width, columns);
  const auto known = [](double x) { return std::isnan(x) ? "-" : fmt::format("{:.5f}", x); };
  for (const MatrixLearning& m : learning.matrices)
    print_row(fmt::format("{:{}} {:>11} {:9.3f} {:>9} {:8.3f}", m.name, width,
                          known(m.gradient_norm), m.weight_norm, known(m.update_ratio), m.cosine),
              width, columns);
}

void print_entropy(const Learning& learning) {
  for (const KindEntropy& e : learning.entropy) {
    if (e.heads.empty()) continue;
    print(fmt::format("\n{:20}{:>9}", "entropy (nats)", "uniform"));
    for (std::size_t h = 0; h < e.heads.front().size(); ++h)
      print(fmt::format("{:>9}", fmt::format("head {}", h)));
    for (std::size_t layer = 0; layer < e.heads.size(); ++layer) {
      const std::string name = fmt::format("{}, layer {}", attention_name(e.kind), layer);
      print(fmt::format("\n{:20}{:9.3f}", name, e.uniform));
      for (const double x : e.heads[layer]) print(fmt::format("{:9.3f}", x));
    }
    print("\n");
  }
}

// The last record. A schedule may end at rate 0; the update ratios are then those of the last step
// that moved the weights.
void print_learning(const std::vector<LearningStep>& records, bool averaged) {
  const LearningStep& last = records.back();
  const auto moves = [](const LearningStep& record) {
    return std::ranges::any_of(record.learning.matrices,
                               [](const MatrixLearning& m) { return m.update_ratio > 0; });
  };
  const auto found = std::find_if(records.rbegin(), records.rend(), moves);
  const LearningStep& moved = found == records.rend() ? last : *found;
  Learning shown = last.learning;
  for (std::size_t i = 0; i < shown.matrices.size(); ++i)
    if (shown.matrices[i].update_ratio == 0)
      shown.matrices[i].update_ratio = moved.learning.matrices[i].update_ratio;
  print_prose(
      fmt::format("\nLearning record of step {} (--json has those of all steps).\n", last.step));
  if (shown.entropy.empty())
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
      moved.step == last.step || shown.entropy.empty() ? "the step"
                                                       : fmt::format("step {}", moved.step)));
  print_matrices(shown);
  print_entropy(shown);
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
  if (line.json()) {
    nlohmann::ordered_json learning = nlohmann::ordered_json::array();
    for (const LearningStep& record : records) learning.push_back(json_of(record));
    print_line({{"checkpoint", name},
                {"step", m.state.step},
                {"parameters", m.model.table.size()},
                {"tensors", json_of(rows)},
                {"learning", learning}});
    return Exit::ok;
  }
  const std::size_t width = name_width(rows);
  print(fmt::format("{}, step {}, {} parameters\n", name, format_count(m.state.step),
                    format_count(static_cast<std::int64_t>(m.model.table.size()))));
  print_prose(
      "norm: length of the tensor as a vector; moved: distance from its value at step 0; "
      "cosine: between now and step 0 (1: same direction)\n\n");
  const auto columns = {11, 9, 9, 9, 8};
  print_row(fmt::format("{:{}} {:>11} {:>9} {:>9} {:>9} {:>8}", "tensor", width, "shape", "norm",
                        "at start", "moved", "cosine"),
            width, columns);
  for (const ParameterRow& r : rows)
    print_row(fmt::format("{:{}} {:>11} {:9.3f} {:9.3f} {:9.3f} {:8.3f}", r.name, width,
                          shape_text(r.shape), r.norm, r.initial_norm, r.distance, r.cosine),
              width, columns);
  print_learning(records, m.config.train.ema_decay > 0);
  return Exit::ok;
}

}  // namespace heed
