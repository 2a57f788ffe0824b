#include "report/report_learning.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "report/page.h"
#include "report/svg_chart.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRecords = 40;

struct Quantity {
  const char *key, *title;
  bool logarithmic;
};
constexpr Quantity kQuantities[] = {{"gradient_norm", "Gradient norm (logarithmic)", true},
                                    {"weight_norm", "Weight norm", false},
                                    {"update_ratio", "Update / weight (logarithmic)", true},
                                    {"cosine", "Cosine to the initial value", false}};

// Matrices that belong together: those of one attention, or a table alone.
struct Group {
  std::string title;
  std::vector<std::pair<std::string, std::string>> members;  // tensor, name of its line
};

std::vector<Group> groups_of(const Json& record) {
  constexpr std::pair<const char*, const char*> kParts[] = {
      {".q_proj", "W_Q"}, {".k_proj", "W_K"}, {".v_proj", "W_V"}, {".out_proj", "W_O"}};
  std::vector<Group> groups;
  for (const auto& [tensor, m] : record["matrices"].items()) {
    std::string title = tensor, line;
    for (const auto& [part, name] : kParts)
      if (const std::size_t at = tensor.find(part); at != std::string::npos) {
        title = tensor.substr(0, at);
        line = name;
      }
    if (groups.empty() || groups.back().title != title) groups.push_back({title, {}});
    groups.back().members.emplace_back(tensor, line);
  }
  return groups;
}

double number(const Json& x) {
  return x.is_number() ? x.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

double value(const Json& record, const std::string& tensor, const char* key) {
  return number(record["matrices"][tensor][key]);
}

std::string charts(const Json& records, const Group& group) {
  std::string out;
  for (const Quantity& quantity : kQuantities) {
    Chart chart{quantity.title, {}, quantity.logarithmic};
    for (const auto& [tensor, line] : group.members) {
      Series s{line, {}};
      for (const Json& r : records)
        s.points.emplace_back(r["step"].get<double>(), value(r, tensor, quantity.key));
      chart.series.push_back(s);
    }
    out += svg_chart(chart);
  }
  return "<div class=\"charts\">" + out + "</div>";
}

std::string matrix_table(const Json& record) {
  std::string rows =
      "<thead><tr><th scope=\"col\">matrix</th><th scope=\"col\">gradient norm</th>"
      "<th scope=\"col\">weight norm</th><th scope=\"col\">update / weight</th>"
      "<th scope=\"col\">cosine to start</th></tr></thead>\n<tbody>";
  for (const auto& [tensor, m] : record["matrices"].items()) {
    rows += "<tr><th scope=\"row\">" + html_text(tensor) + "</th>";
    for (const Quantity& quantity : kQuantities)
      rows += "<td>" + short_number(value(record, tensor, quantity.key)) + "</td>";
    rows += "</tr>\n";
  }
  return rows + "</tbody>";
}

// A chart for each layer of each kind: its heads, and uniform attention.
std::string entropies(const Json& records) {
  std::string out;
  for (const auto& [kind, last] : records.back()["entropy"].items()) {
    for (std::size_t layer = 0; layer < last["heads"].size(); ++layer) {
      Chart chart{"Entropy (nats): " + kind + ", layer " + std::to_string(layer), {}, false, true};
      Series uniform{"uniform", {}, true};
      for (const Json& r : records)
        uniform.points.emplace_back(r["step"].get<double>(), number(r["entropy"][kind]["uniform"]));
      chart.series.push_back(uniform);
      for (std::size_t head = 0; head < last["heads"][layer].size(); ++head) {
        Series s{"head " + std::to_string(head), {}};
        for (const Json& r : records)
          s.points.emplace_back(r["step"].get<double>(),
                                number(r["entropy"][kind]["heads"][layer][head]));
        chart.series.push_back(s);
      }
      out += svg_chart(chart);
    }
  }
  return out;
}

std::string entropy_table(const Json& record) {
  std::string rows =
      "<thead><tr><th scope=\"col\">entropy (nats)</th><th scope=\"col\">uniform</th>"
      "<th scope=\"col\">heads, from 0</th></tr></thead>\n<tbody>";
  for (const auto& [kind, e] : record["entropy"].items()) {
    for (std::size_t layer = 0; layer < e["heads"].size(); ++layer) {
      rows += "<tr><th scope=\"row\">" + html_text(kind) + ", layer " + std::to_string(layer) +
              "</th><td>" + short_number(number(e["uniform"])) + "</td><td>";
      for (const Json& x : e["heads"][layer]) rows += short_number(number(x)) + " ";
      rows += "</td></tr>\n";
    }
  }
  return rows + "</tbody>";
}

}  // namespace

std::string learning_html(const Json& all) {
  if (all.empty()) return "<p>This run has no learning record.</p>";
  Json records = Json::array();
  for (const std::size_t i : spread_indices(all.size(), kRecords)) records.push_back(all[i]);
  std::string out;
  bool first = true;
  for (const Group& group : groups_of(records.back())) {
    out += std::string("<details") + (first ? " open" : "") + "><summary>" +
           html_text(group.title) + "</summary>" + charts(records, group) + "</details>\n";
    first = false;
  }
  out += "<details open><summary>How widely each head looks</summary><div class=\"charts\">" +
         entropies(records) + "</div></details>\n";
  return out + "<details><summary>The numbers of step " +
         std::to_string(records.back()["step"].get<std::int64_t>()) +
         "</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Learning "
         "record, last step\"><table class=\"numbers\">" +
         matrix_table(records.back()) + "</table><table class=\"numbers\">" +
         entropy_table(records.back()) + "</table></div></details>\n";
}

}  // namespace heed
