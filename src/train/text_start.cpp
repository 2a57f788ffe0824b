#include "train/text_start.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/format.h"
#include "base/input_file.h"
#include "base/signals.h"
#include "base/utf8.h"
#include "step/schedule.h"
#include "store/checkpoint.h"
#include "store/layout.h"
#include "store/model.h"
#include "train/speed.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr double kUsed = 0.9;      // share of the time left that is planned for; the rest is slack
constexpr int kMeasuredSteps = 5;  // of training, to guess its speed from, at most
constexpr double kMeasured = 2;    // seconds, likewise
constexpr double kPage = 1;        // seconds
constexpr double kLittleText = 30e3;  // bytes
constexpr double kGoingOn = 0.5;      // share of the rate, for a model that is trained already

std::string absolute_path(const std::string& path) {
  const std::string whole = fs::absolute(path).lexically_normal().string();
  check_writable(whole);
  return whole;
}

// Error (usage) on keys that contradict a planned training on a text.
void check_given(const GivenKeys& given) {
  if (given.contains("data.train"))
    throw Error(Exit::usage, "--set data.train: the texts are on the command line already.",
                "all texts on the command line; or a config, with this --set");
  if (given.contains("train.max_steps") && given.values.train.max_steps == 0)
    throw Error(Exit::usage,
                "--set train.max_steps=0: training on a text is planned in steps; expected at "
                "least 1.",
                "without it, --set train.max_epochs or train.max_minutes may end it earlier");
}

std::string names_of(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) names.push_back(printable(shown_path(file)));
  return some_of(names);
}

bool of_model(const std::string& key) {
  return key.starts_with("tokenizer.") || key.starts_with("model.") ||
         key.starts_with("objective.");
}

// The keys of tokenizer, objective and model of the run that training begins with.
GivenKeys model_of(const RunConfig& run) {
  GivenKeys keys = given_keys(run);
  std::erase_if(keys.keys, [](const auto& entry) { return !of_model(entry.first); });
  keys.erase("tokenizer.file");
  keys.reset = {"tokenizer", "model", "objective"};
  return keys;
}

// The config of --init-from. Error (usage) if it is not for texts, or if --set contradicts it.
RunConfig config_of_first(const TrainRequest& request) {
  RunConfig first = checkpoint_config(open_checkpoint(request.init_from));
  if (first.data.has_pairs())
    throw Error(
        Exit::usage,
        fmt::format("--init-from {}: it was trained on pairs, not on a text.", request.init_from),
        "a config with data.pairs, or source and target");
  for (const KeyChange& change : changed_keys(first, request.run.given.values))
    if (request.run.given.contains(change.key) && of_model(change.key))
      throw Error(Exit::usage,
                  fmt::format("--init-from {}: {} is {} there and {} here.", request.init_from,
                              change.key, change.before, change.after),
                  "without this --set: the text takes tokenizer, objective and model of the run");
  return first;
}

// The text, and what to train on it.
struct ChosenConfig {
  OwnText text;
  Suggestion suggestion;
  std::optional<RunConfig> first;      // of --init-from, whose model it goes on with
  GivenKeys given;                     // by --set; its paths start at the run folder, too
  std::unique_ptr<StoredInput> piped;  // the text, if it was read from standard input

  RunConfig config() const {
    GivenKeys keys = given_keys(suggestion.config);
    if (first) keys = with(std::move(keys), model_of(*first));
    return resolved(changed(keys, given));
  }
};

ChosenConfig choose(const TextRequest& request, Log& log) {
  ChosenConfig choice;
  GivenKeys& given = choice.given = request.train.run.given;
  for (std::string& path : given.values.data.valid.paths) path = absolute_path(path);
  TokenizersConfig& tokenizer = given.values.tokenizer;
  if (!tokenizer.file.empty()) tokenizer.file = absolute_path(tokenizer.file);
  if (!request.train.init_from.empty()) choice.first = config_of_first(request.train);
  TextRequest found = request;
  if (request.texts == std::vector<std::string>{"-"}) {
    if (::isatty(STDIN_FILENO) != 0)
      log.info("type or paste the text; Ctrl-D at the start of a line ends it");
    choice.piped = std::make_unique<StoredInput>();
    found.texts = {choice.piped->path()};
  }
  const bool own_tokenizer = given.contains("tokenizer.type");
  OwnText& text = choice.text =
      read_own_text(found, own_tokenizer && tokenizer.type == TokenizerConfig::byte, log);
  if (const std::string& file = text.files.front(); is_tsv(file))
    log.info("it is read as text; for pairs to translate: heed init " + shell_word(file));
  for (std::string& file : text.files) file = absolute_path(file);

  choice.suggestion = suggest(text);
  RunConfig& c = choice.suggestion.config;
  if (own_tokenizer && !is_subword(tokenizer.type)) c.tokenizer = {};
  if (own_tokenizer || choice.first || given.contains("tokenizer.file"))
    choice.suggestion.tokens = "";
  // The decay is muon's, and would make the weights of another run forget what they learnt.
  const bool muon = !given.contains("optimizer.type") || given.values.optimizer.type == "muon";
  if (!muon || choice.first) c.optimizer.weight_decay = OptimizerConfig().weight_decay;
  if (choice.first)
    for (double* rate : {&c.optimizer.learning_rate, &c.optimizer.min_learning_rate})
      *rate *= kGoingOn;
  return choice;
}

bool same_size(const ModelConfig& a, const ModelConfig& b) {
  return a.d_model == b.d_model && a.encoder_layers == b.encoder_layers &&
         a.decoder_layers == b.decoder_layers;
}

void say_model(const ChosenConfig& choice, const PreparedRun& run, const std::string& first,
               Log& log) {
  const OwnText& text = choice.text;
  const DataConfig& data = run.config.data;
  const auto bytes = static_cast<double>(text.facts.bytes);
  if (!choice.suggestion.tokens.empty()) log.info("tokens: " + choice.suggestion.tokens);
  if (data.valid_fraction > 0)
    log.info(fmt::format("held out, to measure with: about the last {:.2g} % of the text",
                         100 * data.valid_fraction));
  const std::string weights = format_rate(static_cast<double>(run.model.table.size()));
  if (first.empty())
    log.info(fmt::format("model: {} with {} weights, a size for {} of text and {}{}{}", text.like,
                         weights, format_bytes(bytes),
                         counted(fmt::format("{:g}", text.minutes), "minute"),
                         choice.suggestion.minutes_for_larger > 0 &&
                                 same_size(choice.suggestion.config.model, run.config.model)
                             ? fmt::format("; from --minutes {:.2g} on a larger one",
                                           choice.suggestion.minutes_for_larger)
                             : "",
                         text.like == "gpt" ? " (other kinds: --like prefix_lm, bert or t5)" : ""));
  else
    log.info(
        fmt::format("tokenizer, objective and model: those of {}, {} weights", first, weights));
  if (bytes < kLittleText)
    log.info(
        "the text is short, so the model will soon memorise it: the loss on a held-out part rises "
        "again, and the best checkpoint is the one before that");
}

double seconds_gone(const TextRequest& request) {
  return seconds_now() - request.train.run.begin;
}

double measure_step(const PreparedRun& run) {
  const auto enough = [](std::int64_t steps, double seconds) {
    return steps >= kMeasuredSteps || seconds > kMeasured || stop_signal() != 0;
  };
  return measure_speed(run, enough).step_seconds;
}

double seconds_left(const TextRequest& request) {
  return kUsed * (60 * request.minutes - seconds_gone(request)) - kPage;
}

// Names a smaller model, if too few steps of this one fit.
void say_smaller(const ChosenConfig& choice, double in_time, Log& log) {
  constexpr double kFewSteps = 300;
  OwnText text = choice.text;
  text.minutes = in_time * choice.suggestion.step_minutes;  // where sizes are chosen for
  const ModelConfig smaller = suggest(text).config.model;
  if (in_time >= kFewSteps || smaller.d_model >= choice.suggestion.config.model.d_model) return;
  log.info(
      fmt::format("few steps fit into {}: a smaller model would learn more\n"
                  "  --set model.d_model={} --set model.n_heads={} --set model.d_ff={} "
                  "--set model.encoder_layers={} --set model.decoder_layers={}",
                  counted(fmt::format("{:g}", choice.text.minutes), "minute"), smaller.d_model,
                  smaller.n_heads, smaller.d_ff, smaller.encoder_layers, smaller.decoder_layers));
}

// Plans the steps of `run` and puts its config in place, which ends it there. Logs the plan.
void plan(PreparedRun& run, ChosenConfig& choice, double step_seconds, const TextRequest& request,
          Log& log) {
  const GivenKeys& given = choice.given;
  const TrainConfig& train = run.config.train;
  Suggestion& s = choice.suggestion;
  s.validation = static_cast<double>(run.data.valid.target.size()) / run.plan.step_tokens / 3;
  double with_share = step_seconds;  // of the validations, at an interval of the user's own
  if (given.contains("train.eval_every")) {
    if (const auto& [count, epochs] = train.eval_every; count > 0)
      with_share *= 1 + s.validation * (epochs ? run.plan.step_epochs : 1) / count;
    s.validation = 0;
  }
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  const double limit = train.max_minutes > 0 ? 60 * train.max_minutes : kNoLimit,
               in_time = std::min(limit, seconds_left(request)) / with_share;
  const bool planned = !given.contains("train.max_steps");
  const int epochs = planned ? train.max_epochs : 0;  // they end it, if there is time for them
  const double useful = epochs > 0 ? kNoLimit : s.passes / run.plan.step_epochs;
  set_steps(s.config, planned ? steps_in_time(in_time, useful, s.validation) : train.max_steps,
            s.validation);
  if (choice.piped) s.config.data.train.paths = {kRunText};
  run.config = choice.config();
  plan_steps(run);
  const bool reached = epochs > 0 && run.plan.steps > 0 && run.plan.steps < train.max_steps;
  if (reached) {  // the intervals are shares of the true end
    set_steps(s.config, run.plan.steps, s.validation);
    run.config = choice.config();
    run.config.train.max_steps = 0;
    plan_steps(run);
  }
  const std::int64_t end = run.plan.steps > 0 ? run.plan.steps : train.max_steps;
  const double steps = static_cast<double>(end), passes = steps * run.plan.step_epochs;
  const double gone = seconds_gone(request);
  log.info(fmt::format(
      "steps: {}, {}{}; done in about {}, of which {} are gone", format_count(end),
      passes < 1 ? fmt::format("{:.3g} % of the text", 100 * passes)
                 : fmt::format("{:.3g} times through the text", reached ? epochs : passes),
      epochs > 0 && !reached ? fmt::format(" of train.max_epochs {} (--minutes M for more)", epochs)
      : !planned || reached || train.max_minutes > 0 ? ""
      : passes < 0.9 * s.passes                      ? " (--minutes M for more)"
                                                     : " (more steps would only memorise it)",
      format_duration(gone + whole_cost(steps, s.validation) * with_share + kPage),
      format_duration(gone)));
  if (planned && !choice.first && same_size(s.config.model, run.config.model))
    say_smaller(choice, in_time, log);
}

void say_how_to_repeat(const TrainRequest& request, Log& log) {
  const std::string& folder = request.run.folder;
  log.info(fmt::format("run: {0}; Ctrl-C stops and saves, heed resume {0} continues",
                       shell_word(folder)));
  log.info(fmt::format(
      "to repeat it byte for byte:\n  heed train {} --run {}{}",
      shell_word((fs::path(folder) / kConfigFile).string()), shell_word(folder + "-again"),
      request.init_from.empty() ? "" : " --init-from " + shell_word(request.init_from)));
}

}  // namespace

std::string name_of_text(const std::string& path) {
  if (path == "-") return "stdin";
  const fs::path whole = (fs::absolute(path) / "").lexically_normal().parent_path();
  std::error_code none;
  fs::path name = fs::is_directory(whole, none) ? whole.filename() : whole.stem();
  if (whole.extension() == ".gz") name = name.stem();
  return name.empty() ? "text" : name.string();
}

OwnText read_own_text(const TextRequest& request, bool any_bytes, Log& log) {
  const FoundTexts found = find_texts(request.texts, any_bytes);
  OwnText text{.name = names_of(found.files),
               .files = found.files,
               .facts = text_facts(found.files, any_bytes),
               .like = request.like,
               .minutes = request.minutes};
  const TextFacts& f = text.facts;
  std::string line =
      fmt::format("text: {}, {}", text.name, format_bytes(static_cast<double>(f.bytes)));
  if (found.files.size() > 1) line += fmt::format(" in {} files", found.files.size());
  if (!f.too_many_bad)
    line += fmt::format(", {}, {} different",
                        counted(format_count(static_cast<std::int64_t>(f.characters)), "character"),
                        f.distinct);
  log.info(line);
  std::vector<std::string> copies;
  for (std::size_t i = 0; i < found.files.size(); ++i) {
    const auto of = static_cast<std::size_t>(
        std::ranges::find(f.files, f.files[i].hash, &TextFacts::File::hash) - f.files.begin());
    if (of < i)
      copies.push_back(
          fmt::format("{} of {}", printable(found.files[i]), printable(found.files[of])));
  }
  if (!copies.empty()) log.info("copies, which are read all the same: " + some_of(copies));
  if (copies.empty() && request.texts.size() == 2 && f.files.size() == 2 &&
      f.files[0].lines == f.files[1].lines && f.files[0].lines > 1)
    log.info(fmt::format(
        "both have {} lines, and are read as one text, the second after the first; for pairs to "
        "translate:\n  paste {} {} > pairs.tsv && heed init pairs.tsv",
        format_count(static_cast<std::int64_t>(f.files[0].lines)), shell_word(found.files[0]),
        shell_word(found.files[1])));
  if (!found.left_out.empty())
    log.info("left out (not text, or a folder in the folder): " + names_of(found.left_out));
  return text;
}

RunConfig config_for(const std::string& path, const GivenKeys& given, Log& log) {
  TextRequest request;
  request.texts = {path};
  const OwnText text = read_own_text(request, false, log);
  return resolved(changed(given_keys(suggest(text).config), given));
}

RunResult train_on_text(const TextRequest& request, Log& log) {
  const TrainRequest& train = request.train;
  check_given(train.run.given);
  RunWriter::require_free(train.run.folder, train.run.force);
  ChosenConfig choice = choose(request, log);
  Beginning beginning = prepare_start(train, choice.config(), ".");
  if (const double gone = seconds_gone(request); gone > 60 * request.minutes)
    log.warn(
        fmt::format("reading the text took {}, longer than --minutes {:g}: the fewest steps "
                    "follow; try a shorter text, or --minutes {:g}",
                    format_duration(gone), request.minutes, std::ceil(gone / 20)));
  say_model(choice, beginning.prepared, train.init_from, log);
  beginning.prepared.yardsticks = measure_yardsticks(beginning.prepared);
  plan(beginning.prepared, choice, measure_step(beginning.prepared), request, log);
  say_how_to_repeat(train, log);
  beginning.text = std::move(choice.piped);
  return go_in_new_folder(beginning, train.run, train.run.folder, log);
}

}  // namespace heed
