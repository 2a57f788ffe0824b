#include "train/train_log.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "train/learning_record.h"

namespace heed {

using Json = nlohmann::ordered_json;

std::string train_line(const TrainLine& l) {
  std::string s = fmt::format("step {:6}", l.step);
  if (l.max_steps > 0) s += fmt::format("/{}", l.max_steps);
  s += fmt::format(" | ep {:.1f} | loss {:.4f} | ppl {:.2f} | gnorm {:.2f} | lr {:.1e} | {} tok/s",
                   l.epoch, l.loss, std::exp(l.loss), l.gradient_norm, l.learning_rate,
                   format_rate(l.tokens_per_second));
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
  const Evaluation& e = l.evaluation;
  std::string s = fmt::format("valid{:6} | loss {} | ppl {}", l.step, format_fixed(e.loss(), 4),
                              format_fixed(e.perplexity(), 2));
  if (l.bytes > 0) s += fmt::format(" | bpb {}", format_fixed(e.bits_per_byte(l.bytes), 3));
  s += fmt::format(" | acc {}", format_fixed(e.accuracy(), 3));
  if (l.bleu >= 0) s += fmt::format(" | bleu {:.2f} (greedy, tokenize none)", l.bleu);
  return fmt::format("{} | {}", s, l.verdict);
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

std::string event_metrics(std::int64_t step, const std::string& event, const std::string& text,
                          const std::string& core_type) {
  Json j{{"kind", "event"}, {"step", step}, {"event", event}, {"text", text}};
  if (!core_type.empty()) j["core_type"] = core_type;
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace heed
