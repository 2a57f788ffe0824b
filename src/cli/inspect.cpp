// heed inspect RUN
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "cli/command.h"
#include "cli/open_model.h"
#include "cli/output.h"
#include "show/learning_record.h"
#include "store/initial_weights.h"
#include "store/run_folder.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

// A row of a table, a name and columns of these widths, without the columns that do not fit.
void print_row(const std::string& row, std::size_t name, std::initializer_list<int> widths) {
  for (const int width : widths)
    if (static_cast<int>(name) + 1 + width <= output_columns()) name += 1 + width;
  print((std::ssize(row) > output_columns() ? row.substr(0, name) : row) + "\n");
}

// The tensors, and what the last frame knows of a step beside them. A schedule may end at rate 0;
// the updates are then those of the last step that moved the weights.
void print_tensors(const Json& tensors, const std::vector<const Frame*>& learning, bool averaged) {
  const auto moves = [](const Frame* frame) {
    return std::ranges::any_of(frame->matrices,
                               [](const auto& m) { return m.second.update_ratio > 0; });
  };
  const auto moved = std::find_if(learning.rbegin(), learning.rend(), moves);
  std::map<std::string, double> gradients, updates;
  if (!learning.empty())
    for (const auto& [name, m] : learning.back()->matrices) gradients[name] = m.gradient_norm;
  if (moved != learning.rend())
    for (const auto& [name, m] : (*moved)->matrices) updates[name] = m.update_ratio;
  std::string notes =
      "norm: length of the tensor as a vector; moved: distance from its value at step 0; cosine: "
      "between now and step 0 (1: same direction)";
  if (!learning.empty())
    notes += fmt::format("; gradient: its norm before clipping, at step {}", learning.back()->step);
  if (moved != learning.rend())
    notes += fmt::format("; update: how far step {} moved the matrix, as a share of its norm",
                         (*moved)->step);
  if (averaged)
    notes +=
        "; the table describes the average of the trained weights (train.ema_decay), gradient and "
        "update those weights themselves";
  print_prose(notes + "\n\n");

  std::size_t width = 8;
  for (const Json& t : tensors) width = std::max(width, t["name"].get<std::string>().size() + 2);
  const auto columns = {9, 9, 8, 9, 9, 9, 11};
  constexpr const char* kRow = "{:{}} {:>9} {:>9} {:>8} {:>9} {:>9} {:>9} {:>11}";
  print_row(fmt::format(fmt::runtime(kRow), "tensor", width, "norm", "moved", "cosine", "gradient",
                        "update", "at start", "shape"),
            width, columns);
  const auto known = [](const std::map<std::string, double>& of, const std::string& name) {
    const auto found = of.find(name);
    return found == of.end() || std::isnan(found->second) ? "-"
                                                          : fmt::format("{:.5f}", found->second);
  };
  for (const Json& t : tensors) {
    const auto name = t["name"].get<std::string>();
    const auto number = [&](const char* key) { return format_fixed(t[key].get<double>(), 3); };
    std::vector<std::string> sizes;
    for (const Json& size : t["shape"]) sizes.push_back(size.dump());
    print_row(fmt::format(fmt::runtime(kRow), name, width, number("norm"), number("distance"),
                          number("cosine"), known(gradients, name), known(updates, name),
                          number("initial_norm"), joined(sizes, " x ")),
              width, columns);
  }
}

void print_entropy(const Frame& frame) {
  print_prose(
      fmt::format("\nentropy of a row of attention at step {}, mean over a piece of the held-out "
                  "text (0: looks at one token), beside that of uniform attention\n",
                  frame.step));
  for (const auto& [kind, entropy] : frame.entropy) {
    if (entropy.heads.empty()) continue;
    print(fmt::format("\n{:20}{:>9}", "entropy (nats)", "uniform"));
    for (std::size_t h = 0; h < entropy.heads.front().size(); ++h)
      print(fmt::format("{:>9}", fmt::format("head {}", h)));
    for (std::size_t layer = 0; layer < entropy.heads.size(); ++layer) {
      print(
          fmt::format("\n{:20}{:9.3f}", fmt::format("{}, layer {}", kind, layer), entropy.uniform));
      for (const double x : entropy.heads[layer]) print(fmt::format("{:9.3f}", x));
    }
    print("\n");
  }
}

}  // namespace

Exit run_inspect(CommandLine& line) {
  line.add_model();
  if (!line.parse()) return Exit::ok;
  const OpenModel m(line);
  const std::filesystem::path folder = run_of_checkpoint(m.folder);
  // The initial weights are in no folder.
  const std::string name = line.checkpoint() == "initial" ? "initial" : m.folder.string();
  const Json tensors =
      tensor_table(m.model.table, m.values, initial_weights(m.model, m.config.seed, folder));
  const RecordedFrames recorded = read_frames(folder, m.state.step);
  const std::vector<const Frame*> learning = learning_frames(recorded.frames);
  if (line.json()) {
    Json records = Json::array();
    for (const Frame* frame : learning) records.push_back(learning_json(*frame));
    print_line({{"checkpoint", name},
                {"step", m.state.step},
                {"parameters", m.model.table.size()},
                {"tensors", tensors},
                {"learning", records}});
    return Exit::ok;
  }
  print(fmt::format("{}, step {}, {} parameters\n", name, format_count(m.state.step),
                    format_count(static_cast<std::int64_t>(m.model.table.size()))));
  print_tensors(tensors, learning, m.config.train.ema_decay > 0);
  if (!learning.empty()) print_entropy(*learning.back());
  return Exit::ok;
}

}  // namespace heed
