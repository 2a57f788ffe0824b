// heed train TEXT: from a text to its plan.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "base/format.h"
#include "base/input_file.h"
#include "base/signals.h"
#include "base/std_names.h"
#include "store/checkpoint.h"
#include "store/huggingface.h"
#include "store/model.h"
#include "train/speed.h"
#include "train/training_run.h"

namespace heed {
namespace {

constexpr double kUsed = 0.9;      // share of the time left that is planned for; the rest is slack
constexpr int kMeasuredSteps = 5;  // of training, to guess its speed from, at most
constexpr double kMeasured = 2;    // seconds, likewise
constexpr double kPage = 1;        // seconds
constexpr double kGoingOn = 0.5;   // share of the rate, for a model that is trained already

string absolute_path(const string& path) {
  const string whole = fs::absolute(path).lexically_normal().string();
  check_writable(whole);
  return whole;
}

// The keys of tokenizer, objective and model of the run that training begins with. Error (usage) if
// it is not for such a text.
GivenKeys model_of(const string& init_from, bool pairs) {
  const RunConfig first = checkpoint_config(open_checkpoint(init_from));
  if (first.data.has_pairs() != pairs)
    throw usage_error("--init-from {}: it was trained on {}.", init_from,
                      pairs ? "a text, not on pairs" : "pairs, not on a text");
  GivenKeys keys = given_keys(first);
  erase_if(keys.keys, [](const auto& entry) {
    const string section = entry.first.substr(0, entry.first.find('.'));
    return section != "tokenizer" && section != "objective" && section != "model";
  });
  keys.erase("tokenizer.file");
  keys.reset = {"tokenizer", "model", "objective"};
  return keys;
}

// The text, and what to train on it.
struct ChosenConfig {
  OwnText text;
  Suggestion suggestion;
  GivenKeys model;                // of --init-from
  GivenKeys given;                // by --set; its paths start at the run folder, too
  unique_ptr<StoredInput> piped;  // the text, if it was read from standard input

  RunConfig config() const {
    return resolved(changed(with(given_keys(suggestion.config), model), given));
  }
};

ChosenConfig choose(const RunRequest& request, OwnText text, Log& log) {
  ChosenConfig choice;
  choice.text = std::move(text);
  choice.given = request.given;
  GivenKeys& given = choice.given;
  for (const auto& [key, path] : paths_of(given.values.data)) *path = absolute_path(*path);
  if (given.contains("data.columns")) choice.text.columns = given.values.data.columns;
  TokenizersConfig& tokenizer = given.values.tokenizer;
  if (!tokenizer.file.empty()) tokenizer.file = absolute_path(tokenizer.file);
  const bool goes_on = !request.init_from.empty();
  if (choice.text.files.front() == "-" && choice.text.files.size() == 1) {
    if (::isatty(STDIN_FILENO) != 0)
      log.info("type or paste the text; Ctrl-D at the start of a line ends it");
    choice.piped = make_unique<StoredInput>();
    choice.text.files = {choice.piped->path()};
  }
  const bool own_tokenizer = given.contains("tokenizer.type");
  read_own_text(choice.text, own_tokenizer && tokenizer.type == TokenizerConfig::byte, log);
  for (string& file : choice.text.files) file = absolute_path(file);

  if (goes_on) choice.model = model_of(request.init_from, choice.text.pairs());
  choice.suggestion = suggest(choice.text);
  RunConfig& c = choice.suggestion.config;
  if (given.contains("model.d_model")) set_width(c.model, given.values.model.d_model);
  if (own_tokenizer && !is_subword(tokenizer.type)) c.tokenizer = {};
  if (own_tokenizer || goes_on || given.contains("tokenizer.file")) choice.suggestion.tokens = "";
  // The decay is muon's, and would make the weights of another run forget what they learnt.
  const bool muon = !given.contains("optimizer.type") || given.values.optimizer.type == "muon";
  if (!muon || goes_on) c.optimizer.weight_decay = OptimizerConfig().weight_decay;
  if (goes_on)
    for (double* rate : {&c.optimizer.learning_rate, &c.optimizer.min_learning_rate})
      *rate *= kGoingOn;
  if (const string& program = choice.text.program; program != "") {
    c = opened_elsewhere(changed(given_keys(c), given).values);
    (void)foreign_class(program, choice.config());  // Error if the given keys are in the way
  }
  return choice;
}

void say_model(const ChosenConfig& choice, const PreparedRun& run, const string& init_from,
               Log& log) {
  const OwnText& text = choice.text;
  const auto say = text.facts.bad_files.empty() ? &Log::detail : &Log::info;
  if (!choice.suggestion.tokens.empty()) (log.*say)("tokens: " + choice.suggestion.tokens);
  const string weights = format_rate(double(run.model.table.size())),
               bytes = format_bytes(double(text.facts.bytes));
  log.info(init_from.empty()
               ? fmt::format("model: {} with {} weights, a size for {} of text and --minutes {:g}",
                             text.pairs() ? "encoder-decoder" : text.like, weights, bytes,
                             text.minutes)
               : fmt::format("tokenizer, objective and model: those of {}, {} weights", init_from,
                             weights));
}

// Plans the steps of `run` and puts its config in place, which ends it there. Logs the plan.
void plan(PreparedRun& run, ChosenConfig& choice, const RunRequest& request, Log& log) {
  const auto seconds_gone = [&] { return seconds_now() - request.begin; };
  const TrainConfig& train = run.config.train;
  Suggestion& s = choice.suggestion;
  s.validation = double(run.data.valid.target.size()) / run.plan.step_tokens / 3;
  const auto enough = [](int64_t steps, double seconds) {
    return steps >= kMeasuredSteps || seconds > kMeasured || stop_signal() != 0;
  };
  double step_seconds = measure_speed(run, enough).step_seconds;
  if (const Interval every = train.eval_every; choice.given.contains("train.eval_every")) {
    const double steps = double(every.count) / (every.epochs ? run.plan.step_epochs : 1);
    if (steps > 0) step_seconds *= 1 + s.validation / steps;
    s.validation = 0;  // they take their part of the time of the steps
  }
  const double limit = train.max_minutes > 0 ? 60 * train.max_minutes : INFINITY,
               left = kUsed * (60 * choice.text.minutes - seconds_gone()) - kPage,
               in_time = min(limit, left) / step_seconds;
  const bool planned = !choice.given.contains("train.max_steps");
  const int epochs = planned ? train.max_epochs : 0;  // they end it, if there is time for them
  const double useful = epochs > 0 ? INFINITY : s.passes / run.plan.step_epochs;
  int64_t end = planned ? steps_in_time(in_time, useful, s.validation) : train.max_steps;
  const int64_t of_epochs = llround(epochs / run.plan.step_epochs);
  const bool reached = epochs > 0 && of_epochs < end;
  set_steps(s.config, reached ? of_epochs : end, s.validation);
  if (reached) s.config.train.max_steps = 0;
  if (choice.piped)
    for (const auto& [key, path] : paths_of(s.config.data)) *path = kRunText;
  run.config = choice.config();
  plan_steps(run);
  if (run.plan.steps > 0) end = run.plan.steps;
  const double steps = double(end), gone = seconds_gone();
  const string all = format_duration(gone + whole_cost(steps, s.validation) * step_seconds + kPage);
  run.described = true;
  log.info(fmt::format(
      "steps: {}, {:.3g} times through the text{}; about {} in all, {} of that already spent",
      format_count(end), steps * run.plan.step_epochs,
      planned && max(300.0, useful) < in_time ? ", as more seldom helps on so short a text" : "",
      all, format_duration(gone)));
}

}  // namespace

RunResult train_on_text(const RunRequest& request, OwnText text, Log& log) {
  const string& folder = request.folder;
  if (request.given.contains("data.train"))
    throw usage_error("--set data.train: the texts are on the command line already.")
        .hint("all texts on the command line; or a config, with this --set");
  if (request.given.contains("train.max_steps") && request.given.values.train.max_steps == 0)
    throw usage_error("--set train.max_steps=0: expected at least 1 for a text.")
        .hint("--set train.max_epochs or train.max_minutes");
  RunWriter::require_free(folder, request.force);
  ChosenConfig choice = choose(request, std::move(text), log);
  const auto plan_prepared = [&](PreparedRun& run) {
    say_model(choice, run, request.init_from, log);
    run.yardsticks = measure_yardsticks(run);
    plan(run, choice, request, log);
    log.detail(fmt::format(
        "to repeat it byte for byte:\n  heed train {} --run {}{}",
        shell_word((fs::path(folder) / kConfigFile).string()), shell_word(folder + "-again"),
        request.init_from.empty() ? "" : " --init-from " + shell_word(request.init_from)));
  };
  // (The text stays in `choice` until the plan has asked for it.)
  return train_run(request, choice.config(), ".", log, plan_prepared, std::move(choice.piped));
}

}  // namespace heed
