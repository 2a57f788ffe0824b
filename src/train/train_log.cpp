#include "train/train_log.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "train/learning_json.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

std::string padded(const std::string& s, std::size_t width) {
  return s.size() < width ? std::string(width - s.size(), ' ') + s : s;
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

// NaN and infinity are written as null: JSON has neither.
std::string train_metrics(const TrainLine& l) {
  Json j{{"kind", "train"},
         {"step", l.step},
         {"epoch", l.epoch},
         {"loss", l.loss},
         {"perplexity", std::exp(l.loss)},
         {"gradient_norm", l.gradient_norm},
         {"learning_rate", l.learning_rate},
         {"tokens_per_second", l.tokens_per_second},
         {"seconds", l.seconds}};
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
         {"loss", l.evaluation.loss()},
         {"perplexity", l.evaluation.perplexity()},
         {"accuracy", l.evaluation.accuracy()},
         {"tokens", l.evaluation.sums.tokens}};
  if (l.bytes > 0) j["bits_per_byte"] = l.evaluation.bits_per_byte(l.bytes);
  if (l.bleu >= 0) j["bleu"] = l.bleu;
  j["verdict"] = l.verdict;
  return j.dump();
}

std::string event_metrics(std::int64_t step, const std::string& event, const std::string& text) {
  return Json{{"kind", "event"}, {"step", step}, {"event", event}, {"text", text}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace heed
