#include "report/report_page.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "report/page.h"
#include "report/report_learning.h"
#include "report/run_metrics.h"
#include "report/svg_chart.h"

namespace heed {

extern const char* const report_page_html;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRows = 60;  // of a table of numbers

using Events = std::vector<const Json*>;  // of the metrics

std::string number(const Json& event, const char* key) {
  return event.contains(key) && event[key].is_number() ? short_number(event[key].get<double>())
                                                       : "";
}

Events events_of(const Json& metrics, const char* kind) {
  Events events;
  for (const Json& event : metrics)
    if (event["kind"] == kind) events.push_back(&event);
  return events;
}

Series series(const std::string& name, const Events& events, const char* key) {
  Series s{name, {}};
  for (const Json* event : events)
    if (event->contains(key) && (*event)[key].is_number())
      s.points.emplace_back((*event)["step"].get<double>(), (*event)[key].get<double>());
  return s;
}

std::string curves(const Events& train, const Events& valid) {
  const auto one = [&](const char* title, const char* key, bool from_zero) {
    return svg_chart({title, {series("", train, key)}, false, from_zero});
  };
  const auto both = [&](const char* title, const char* key, bool logarithmic) {
    return svg_chart(
        {title, {series("training", train, key), series("held out", valid, key)}, logarithmic});
  };
  return both("Loss (nats per token)", "loss", false) +
         both("Perplexity (logarithmic)", "perplexity", true) +
         svg_chart({"Accuracy, held out", {series("", valid, "accuracy")}, false, true}) +
         svg_chart({"BLEU, held out", {series("", valid, "bleu")}, false, true}) +
         one("Learning rate", "learning_rate", true) + one("Gradient norm", "gradient_norm", true) +
         one("Speed (tokens per second)", "tokens_per_second", true);
}

std::string cells(const char* tag, const std::vector<std::string>& texts) {
  std::string row = "<tr>";
  for (const std::string& text : texts)
    row += "<" + std::string(tag) + ">" + html_text(text) + "</" + tag + ">";
  return row + "</tr>\n";
}

std::string curve_table(const Events& train, const Events& valid) {
  std::string rows = "<thead>" +
                     cells("th scope=\"col\"", {"", "step", "loss", "perplexity", "accuracy",
                                                "learning rate", "gradient norm", "tokens/s"}) +
                     "</thead>\n<tbody>";
  const auto add = [&](const char* kind, const Events& events) {
    for (const std::size_t i : spread_indices(events.size(), kRows)) {
      const Json& e = *events[i];
      rows +=
          cells("td", {kind, std::to_string(e["step"].get<std::int64_t>()), number(e, "loss"),
                       number(e, "perplexity"), number(e, "accuracy"), number(e, "learning_rate"),
                       number(e, "gradient_norm"), number(e, "tokens_per_second")});
    }
  };
  add("training", train);
  add("held out", valid);
  return rows + "</tbody>";
}

std::string step_name(std::int64_t step) {
  return step == 0 ? "before training" : "step " + std::to_string(step);
}

// On one line: ends of lines as a sign.
std::string one_line(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') {
      out += text[i];
    } else if (i == 0 || text[i - 1] != '\n') {
      out += " ↵ ";
    }
  }
  return html_text(out);
}

std::string samples(const Report& r) {
  std::string out;
  for (std::size_t i = 0; i < r.prompts.size(); ++i) {
    out += "<div class=\"sample\"><h3>" +
           (r.prompts[i].empty() ? "(no prompt)" : one_line(r.prompts[i])) + "</h3>\n<dl>";
    for (const ReportStep& step : r.steps)
      out += "<dt>" + step_name(step.step) + "</dt><dd>" + one_line(step.written[i]) + "</dd>\n";
    out += "<dt>the text itself</dt><dd>" + one_line(r.expected[i]) + "</dd></dl></div>\n";
  }
  return out.empty() ? "<p>None.</p>" : out;
}

std::string parameters(const Report& r) {
  std::string rows = "<thead>" +
                     cells("th scope=\"col\"", {"tensor", "shape", "norm", "norm at start", "moved",
                                                "cosine to start"}) +
                     "</thead>\n<tbody>";
  for (const ParameterRow& p : r.parameters) {
    std::string shape;
    for (const std::int64_t n : p.shape) shape += (shape.empty() ? "" : " × ") + std::to_string(n);
    rows += "<tr><th scope=\"row\">" + html_text(p.name) + "</th>";
    for (const std::string& text : {shape, format_fixed(p.norm, 3), format_fixed(p.initial_norm, 3),
                                    format_fixed(p.distance, 3), format_fixed(p.cosine, 3)})
      rows += "<td>" + text + "</td>";
    rows += "</tr>\n";
  }
  return rows + "</tbody>";
}

std::string base64(const std::vector<unsigned char>& bytes) {
  constexpr const char* kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) { return i + k < bytes.size() ? bytes[i + k] : 0u; };
    const unsigned bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (int k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : kLetters[bits >> (18 - 6 * k) & 63];
  }
  return out;
}

// The weights of every step in 255ths.
nlohmann::json maps(const Report& r) {
  nlohmann::json data{{"source", r.tokens.source},
                      {"target", r.tokens.target},
                      {"steps", nlohmann::json::array()},
                      {"kinds", nlohmann::json::array()}};
  for (const ReportStep& step : r.steps) data["steps"].push_back(step.step);
  for (const AttentionKind kind : kAttentionKinds) {
    if (r.steps.empty() || map_of(r.steps.front().maps, kind).empty()) continue;
    const AttentionMap& first = map_of(r.steps.front().maps, kind);
    nlohmann::json weights = nlohmann::json::array();
    for (const ReportStep& step : r.steps) {
      std::vector<unsigned char> bytes;
      for (const float w : map_of(step.maps, kind).weights)
        bytes.push_back(static_cast<unsigned char>(std::lround(255 * w)));
      weights.push_back(base64(bytes));
    }
    data["kinds"].push_back({{"name", attention_name(kind)},
                             {"layers", first.layers},
                             {"heads", first.heads},
                             {"queries", kind == AttentionKind::encoder_self ? "source" : "target"},
                             {"keys", kind == AttentionKind::decoder_self ? "target" : "source"},
                             {"weights", weights}});
  }
  return data;
}

std::string about(const Report& r, const Events& valid) {
  std::string text = format_count(r.last_step) + " steps, " +
                     format_count(static_cast<std::int64_t>(r.parameter_count)) + " parameters";
  const auto best = std::find_if(valid.rbegin(), valid.rend(), [&](const Json* event) {
    return (*event)["step"] == r.best_step;
  });
  if (best == valid.rend()) return text + ".";
  const std::string loss =
      number(**best, "loss") + " nats per token (perplexity " + number(**best, "perplexity") + ")";
  text += r.best_by_bleu ? "; best held-out BLEU " + number(**best, "bleu") + " (loss " + loss + ")"
                         : "; best held-out loss " + loss;
  return text + " at step " + std::to_string(r.best_step) + ".";
}

std::string notes(const Report& r) {
  std::string out;
  for (const std::string& note : r.notes) out += "<li>" + html_text(note) + "</li>";
  return out.empty() ? "" : "<ul class=\"notes\">" + out + "</ul>";
}

}  // namespace

std::string report_page(const Report& r, Json metrics) {
  const Json records = take_learning_records(metrics);
  const Events train = events_of(metrics, "train"), valid = events_of(metrics, "valid");
  return filled_page(report_page_html, {{"run", html_text(r.run)},
                                        {"about", html_text(about(r, valid))},
                                        {"notes", notes(r)},
                                        {"curves", curves(train, valid)},
                                        {"curve_table", curve_table(train, valid)},
                                        {"samples", samples(r)},
                                        {"learning", learning_html(records)},
                                        {"parameters", parameters(r)},
                                        {"config", html_text(r.config)},
                                        {"data", json_for_script(maps(r))}});
}

}  // namespace heed
