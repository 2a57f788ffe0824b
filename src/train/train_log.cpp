#include "train/train_log.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

std::string padded(const std::string& s, std::size_t width) {
  return s.size() < width ? std::string(width - s.size(), ' ') + s : s;
}

// JSON has no NaN or infinity: null says that there is no number.
Json number(double x) {
  return std::isfinite(x) ? Json(x) : Json(nullptr);
}

// Six digits: a record has many numbers.
Json rounded(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return number(std::strtod(text, nullptr));
}

Json json_of(const Learning& learning) {
  Json matrices = Json::object(), entropy = Json::object();
  for (const MatrixLearning& m : learning.matrices)
    matrices[m.name] = {{"gradient_norm", rounded(m.gradient_norm)},
                        {"weight_norm", rounded(m.weight_norm)},
                        {"update_ratio", rounded(m.update_ratio)},
                        {"cosine", rounded(m.cosine)}};
  for (const KindEntropy& kind : learning.entropy) {
    Json layers = Json::array();
    for (const std::vector<double>& heads : kind.heads) {
      Json row = Json::array();
      for (const double x : heads) row.push_back(rounded(x));
      layers.push_back(row);
    }
    entropy[attention_name(kind.kind)] = {{"uniform", rounded(kind.uniform)}, {"heads", layers}};
  }
  return {{"matrices", matrices}, {"entropy", entropy}};
}

}  // namespace

std::string train_line(const TrainLine& l) {
  std::string s = "step " + padded(std::to_string(l.step), 6);
  if (l.max_steps > 0) s += "/" + std::to_string(l.max_steps);
  s += " | ep " + format_fixed(l.epoch, 1);
  s += " | loss " + format_fixed(l.loss, 4) + " | ppl " + format_fixed(std::exp(l.loss), 2);
  s += " | gnorm " + format_fixed(l.gradient_norm, 2);
  s += " | lr " + format_scientific(l.learning_rate);
  s += " | " + format_rate(l.tokens_per_second) + " tok/s";
  if (l.eta_seconds >= 0) s += " | eta " + format_duration(l.eta_seconds);
  return s;
}

std::string train_metrics(const TrainLine& l) {
  Json j{{"kind", "train"},
         {"step", l.step},
         {"epoch", number(l.epoch)},
         {"loss", number(l.loss)},
         {"perplexity", number(std::exp(l.loss))},
         {"gradient_norm", number(l.gradient_norm)},
         {"learning_rate", number(l.learning_rate)},
         {"tokens_per_second", number(l.tokens_per_second)},
         {"seconds", number(l.seconds)}};
  if (l.learning) j["learning"] = json_of(*l.learning);
  return j.dump();
}

std::string valid_line(const ValidLine& l) {
  std::string s = "valid" + padded(std::to_string(l.step), 6);
  s += " | loss " + format_fixed(l.evaluation.loss(), 4);
  s += " | ppl " + format_fixed(l.evaluation.perplexity(), 2);
  if (l.bytes > 0) s += " | bpb " + format_fixed(l.evaluation.bits_per_byte(l.bytes), 3);
  s += " | acc " + format_fixed(l.evaluation.accuracy(), 3);
  if (l.bleu >= 0) s += " | bleu " + format_fixed(l.bleu, 2);
  return s + " | " + l.verdict;
}

std::string valid_metrics(const ValidLine& l) {
  Json j{{"kind", "valid"},
         {"step", l.step},
         {"loss", number(l.evaluation.loss())},
         {"perplexity", number(l.evaluation.perplexity())},
         {"accuracy", number(l.evaluation.accuracy())},
         {"tokens", l.evaluation.sums.tokens}};
  if (l.bytes > 0) j["bits_per_byte"] = number(l.evaluation.bits_per_byte(l.bytes));
  if (l.bleu >= 0) j["bleu"] = number(l.bleu);
  j["verdict"] = l.verdict;
  return j.dump();
}

std::string event_metrics(std::int64_t step, const std::string& event, const std::string& text) {
  return Json{{"kind", "event"}, {"step", step}, {"event", event}, {"text", text}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace heed
