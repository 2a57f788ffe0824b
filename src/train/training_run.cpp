#include "train/training_run.h"

#include <fmt/core.h>

#include <cmath>

#include "base/folders.h"
#include "base/format.h"
#include "base/signals.h"
#include "evaluate/yardsticks.h"
#include "store/origin.h"
#include "train/schedule_in_words.h"

namespace heed {
namespace {

struct StopName {
  const char *reason, *in_words;
};
// In the order of Stop.
constexpr StopName kStops[] = {{"finished", "finished"},
                               {"early_stopping", "stopped early"},
                               {"stop_at", "stopped and saved"},
                               {"signal", "stopped and saved"},
                               {"time", "time is up"}};

// "1.8231 nats per token: better than uniform (4.29) and 6-gram (2.01), not better than xz
// (1.75)"
std::string compared(double loss, const Yardsticks& yardsticks) {
  std::vector<std::string> names[2], parts;  // beaten, not beaten
  for (const Yardstick& y : yardsticks)
    names[loss < y.nats_per_token ? 0 : 1].push_back(
        fmt::format("{} ({:.2f})", y.name, y.nats_per_token));
  for (const bool beaten : {true, false})
    if (const auto& list = names[beaten ? 0 : 1]; !list.empty())
      parts.push_back((beaten ? "better than " : "not better than ") + listed(list));
  return fmt::format("{:.4f} nats per token: {}", loss, joined(parts));
}

void say_start(Log& log, const PreparedRun& run) {
  const RunConfig& c = run.config;
  const Dataset& data = run.data;
  for (const std::string& note : data.notes) log.info(note);
  const auto n = [](auto x) { return format_count(static_cast<std::int64_t>(x)); };
  std::string model = fmt::format(
      "model: {} parameters, {} encoder and {} decoder layers, d_model {}, vocabulary {}",
      n(run.model.table.size()), c.model.encoder_layers, c.model.decoder_layers, c.model.d_model,
      n(run.tokenizers.target->size()));
  if (kv_heads(c.model) != c.model.n_heads)
    model += fmt::format(", {} heads of queries share {} of keys and values", c.model.n_heads,
                         kv_heads(c.model));
  log.info(model);
  std::string text = fmt::format("data: {} training tokens",
                                 n(data.train.target.size() + data.train.source.size()));
  if (data.train.pairs()) text += fmt::format(" in {} pairs", n(data.train.sentences()));
  if (c.data.has_validation())
    text += fmt::format(", {} held out", n(data.valid.target.size() + data.valid.source.size()));
  log.info(text);
  const std::string steps = c.train.max_steps > 0 ? n(c.train.max_steps) + " " : "";
  log.info(fmt::format(
      "plan: {}steps of {} tokens, on {}, about {} of memory", steps, n(c.train.batch_tokens),
      counted(std::to_string(run.pool->threads()), "thread"), format_bytes(run.memory.total())));
  log.info("learning rate: " + schedule_in_words(c.optimizer, c.train.max_steps));
}

void say_yardsticks(Log& log, const Yardsticks& yardsticks) {
  std::vector<std::string> nats, bits, parts;
  for (const Yardstick& y : yardsticks) {
    nats.push_back(fmt::format("{} {:.3f}", y.name, y.nats_per_token));
    if (y.bits_per_byte) bits.push_back(fmt::format("{} {:.3f}", y.name, *y.bits_per_byte));
    if (!y.part.empty()) parts.push_back(y.name + " with " + y.part);
  }
  log.info("yardsticks on the held-out text, nats per token: " + joined(nats));
  if (!bits.empty()) log.info("the same in bits per byte: " + joined(bits));
  if (!parts.empty())
    log.info("(measured with a part of the training text: " + listed(parts) + ")");
}

void say_end(Log& log, Stop stop, const RunResult& result, SelectBy by,
             const Yardsticks& yardsticks) {
  const State& s = result.state;
  std::string text = fmt::format("{} at step {}", kStops[static_cast<int>(stop)].in_words, s.step);
  if (stop == Stop::early) text += fmt::format(": {} validations without a new best", s.stalled);
  text += " after " + format_duration(result.seconds);
  if (std::isfinite(s.best_loss))
    text += by == SelectBy::bleu
                ? fmt::format("; best validation BLEU {:.2f} @ {} (greedy, tokenize none)",
                              s.best_metric, s.best_step)
                : fmt::format("; best validation loss {:.4f} @ {}", s.best_loss, s.best_step);
  log.info(text);
  if (std::isfinite(s.best_loss) && !yardsticks.empty())
    log.info(compared(s.best_loss, yardsticks));
  log.info("run: " + result.run);
  if (stop == Stop::asked || stop == Stop::signal || stop == Stop::time)
    log.info("to continue: heed resume " + shell_word(result.run));
}

// Measured once, when the run starts, and logged in metrics.jsonl.
Yardsticks yardsticks_of(const PreparedRun& p, RunWriter& run, Log& log) {
  if (!p.config.data.has_validation()) return {};
  Yardsticks yardsticks = logged_yardsticks(run.path());
  if (!yardsticks.empty()) return yardsticks;
  if (const double available = available_memory(); p.memory.yardsticks > available) {
    log.info(fmt::format("skipping the yardsticks: they may need {}, and {} is free",
                         format_bytes(p.memory.yardsticks), format_bytes(available)));
    return {};
  }
  yardsticks = measure_yardsticks(*make_objective(p.config), *p.tokenizers.target, p.data.train,
                                  p.data.valid, *p.pool, [] { return stop_signal() != 0; });
  if (yardsticks.empty()) return yardsticks;
  run.append_metrics(yardsticks_metrics(yardsticks));
  say_yardsticks(log, yardsticks);
  return yardsticks;
}

}  // namespace

void check_room(const PreparedRun& prepared, const std::string& run) {
  const RunConfig& c = prepared.config;
  const double copies = 1.0 + moments_of(c.optimizer) + (c.train.ema_decay > 0 ? 1 : 0);
  check_free_space(run, 4 * copies * static_cast<double>(prepared.model.table.size()));
}

RunResult train_to_the_end(const PreparedRun& prepared, const RunRequest& request, RunWriter& run,
                           Log& log, const std::function<void(Trainer&)>& set_up) {
  const std::string processor = processor_name();
  log.only_file(fmt::format("{} heed {}{}", date_and_time(), HEED_VERSION,
                            processor.empty() ? "" : " on " + processor));
  say_start(log, prepared);
  Trainer trainer(prepared, run, log);
  set_up(trainer);
  const std::unique_ptr<Film> film = request.film ? request.film(prepared) : nullptr;
  if (film) trainer.film_with(*film);
  const Yardsticks yardsticks = yardsticks_of(prepared, run, log);
  const Stop stop = trainer.run(request.stop_at);
  const Exit exit = stop == Stop::signal ? exit_of_signal(stop_signal()) : Exit::ok;
  const RunResult result{exit, run.path().string(), kStops[static_cast<int>(stop)].reason,
                         trainer.state(), seconds_now() - request.begin};
  log.only_file(date_and_time());
  say_end(log, stop, result, prepared.config.train.select_by, yardsticks);
  return result;
}

void say_cut(Log& log, const MetricsCut& cut, std::int64_t step) {
  if (cut.kept == 0 && step > 0)
    log.warn(
        fmt::format("metrics.jsonl has no line of the steps up to {}: it was emptied or "
                    "replaced; the checkpoint is whole, and training continues from it",
                    step));
  if (cut.later + cut.damaged > 0)
    log.info(fmt::format("metrics.jsonl: dropped {} lines of later steps and {} torn ones",
                         cut.later, cut.damaged));
}

}  // namespace heed
