#include "train/text_start.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/signals.h"
#include "base/utf8.h"
#include "store/layout.h"
#include "store/open_checkpoint.h"
#include "store/trained_model.h"
#include "train/speed.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr double kUsed = 0.9;       // share of the time left that is planned for; the rest is slack
constexpr int kMeasuredSteps = 20;  // of training, to measure its speed
constexpr double kMeasured = 0.05;  // share of the minutes, at most, for steps and for a validation
constexpr double kLittleText = 30e3;  // bytes
constexpr double kGoingOn = 0.5;      // share of the rate, for a model that is trained already
constexpr std::size_t kNamed = 4;     // files, at most

// For the page, and the yardsticks, which are measured with the end of the text.
double seconds_besides_training(const OwnText& text) {
  return 1 + 2e-6 * std::min(static_cast<double>(text.facts.bytes), 3e6);
}

std::string absolute_path(const std::string& path) {
  const std::string whole = fs::absolute(path).lexically_normal().string();
  check_writable(whole);
  return whole;
}

// Error (usage) on keys that contradict a planned training on a text.
GivenKeys checked_sets(const std::vector<std::string>& sets) {
  GivenKeys given = read_sets(sets);
  if (given.keys.contains("data.train"))
    throw Error(Exit::usage, "--set data.train: the texts are on the command line already.",
                "all texts on the command line; or a config, with this --set");
  if (given.keys.contains("train.max_steps") && given.values.train.max_steps == 0)
    throw Error(Exit::usage,
                "--set train.max_steps=0: training on a text is planned in steps; expected at "
                "least 1.",
                "without it, --set train.max_epochs or train.max_minutes may end it earlier");
  return given;
}

// "a.txt, b.txt, c.txt and 9 more"
std::string names_of(const std::vector<std::string>& files) {
  const std::size_t shown = files.size() > kNamed ? kNamed - 1 : files.size();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shown; ++i) names.push_back(printable(shown_path(files[i])));
  if (shown < files.size()) names.push_back(fmt::format("{} more", files.size() - shown));
  return listed(names);
}

// The config with tokenizer, objective and model of the run that training begins with.
std::string with_model_of(const RunConfig& run, const std::string& suggested) {
  auto json = nlohmann::ordered_json::parse(suggested, nullptr, true, true);
  const auto trained = nlohmann::ordered_json::parse(dump_config(run));
  for (const char* section : {"tokenizer", "model", "objective"}) json[section] = trained[section];
  json["tokenizer"].erase("file");
  return json.dump();
}

// The config of --init-from. Error (usage) if it is not for texts, or if --set contradicts it.
RunConfig config_of_first(const TextRequest& request) {
  const std::string& run = request.train.init_from;
  RunConfig first = checkpoint_config(open_checkpoint(run));
  if (first.data.has_pairs())
    throw Error(Exit::usage,
                fmt::format("--init-from {}: it was trained on pairs, not on a text.", run),
                "a config with data.pairs, or source and target");
  const GivenKeys given = read_sets(request.train.run.sets);
  for (const KeyChange& change : changed_keys(first, given.values))
    for (const char* section : {"tokenizer.", "model.", "objective."})
      if (given.keys.contains(change.key) && change.key.starts_with(section))
        throw Error(Exit::usage,
                    fmt::format("--init-from {}: {} is {} there and {} here.", run, change.key,
                                change.before, change.after),
                    "without this --set: the text takes tokenizer, objective and model of the run; "
                    "or --partial, which takes the weights that fit");
  return first;
}

// `first`: the run whose model it is, or "".
void say_model(Log& log, const OwnText& text, const PreparedRun& run, const std::string& first) {
  const DataConfig& data = run.config.data;
  const auto bytes = static_cast<double>(text.facts.bytes);
  if (data.valid_fraction > 0)
    log.info(fmt::format("held out, to measure with: about the last {:.2g} % of the text",
                         100 * data.valid_fraction));
  const std::string weights = format_rate(static_cast<double>(run.model.table.size()));
  if (first.empty())
    log.info(fmt::format("model: {} with {} weights, a size for {} of text and {}{}", text.like,
                         weights, format_bytes(bytes),
                         counted(fmt::format("{:g}", text.minutes), "minute"),
                         text.like == "gpt" ? " (other kinds: --like prefix_lm, bert or t5)" : ""));
  else
    log.info(
        fmt::format("tokenizer, objective and model: those of {}, {} weights", first, weights));
  if (bytes < kLittleText)
    log.info(
        data.has_validation()
            ? "the text is short, so the model will soon memorise it: the loss on the held-out "
              "part may rise again; the best checkpoint is the one before that"
            : "the text is short, so the model will soon memorise it; nothing is held out");
}

}  // namespace

std::string name_of_text(const std::string& path) {
  if (path == "-") return "stdin";
  const fs::path whole = (fs::absolute(path) / "").lexically_normal().parent_path();
  std::error_code none;
  fs::path name = fs::is_directory(whole, none) ? whole.filename() : whole.stem();
  if (whole.extension() == ".gz" || whole.extension() == ".xz") name = name.stem();
  return name.empty() ? "text" : name.string();
}

OwnText read_own_text(const TextRequest& request, bool any_bytes, Log& log) {
  const FoundTexts found = find_texts(request.texts, any_bytes);
  OwnText text{.name = names_of(found.files),
               .files = found.files,
               .facts = text_facts(found.files),
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
  if (!found.left_out.empty())
    log.info("left out (not text, or a folder in the folder): " + names_of(found.left_out));
  return text;
}

RunConfig config_for(const std::string& path, const std::vector<std::string>& sets, Log& log) {
  TextRequest request;
  request.texts = {path};
  const OwnText text = read_own_text(request, false, log);
  return parse_config(suggested_config(text, suggest(text)), "the config for " + text.name, sets);
}

RunResult train_on_text(TextRequest request, Log& log) {
  const bool piped = request.texts == std::vector<std::string>{"-"};
  if (request.train.run.folder.empty())
    request.train.run.folder = (fs::path("runs") / name_of_text(request.texts.front())).string();
  const GivenKeys given = checked_sets(request.train.run.sets);
  std::optional<RunConfig> before;  // goes on with its model
  if (!request.train.init_from.empty() && !request.train.partial) before = config_of_first(request);
  RunWriter::require_free(request.train.run.folder, request.train.run.force);

  if (piped && ::isatty(STDIN_FILENO) != 0)
    log.info("type or paste the text; Ctrl-D at the start of a line ends it");
  auto input = piped ? std::make_unique<StoredInput>() : nullptr;
  const bool own_tokenizer = given.keys.contains("tokenizer.type");
  if (piped) request.texts = {input->path()};
  OwnText text = read_own_text(
      request, own_tokenizer && given.values.tokenizer.type == TokenizerConfig::byte, log);
  if (const std::string& first = text.files.front(); is_tsv(first))
    log.info("it is read as text; for pairs to translate: heed init " + shell_word(first));
  for (std::string& file : text.files) file = absolute_path(file);
  Suggestion suggestion = suggest(text);
  if (own_tokenizer) suggestion.tokenizer = given.values.tokenizer.type;
  // The decay is muon's, and would make the weights of another run forget what they learnt.
  const bool muon = !given.keys.contains("optimizer.type") || given.values.optimizer.type == "muon";
  if (!muon || !request.train.init_from.empty()) suggestion.weight_decay = 0;
  if (before) suggestion.learning_rate *= kGoingOn;
  const auto config = [&] {
    const std::string suggested = suggested_config(text, suggestion);
    RunConfig c = parse_config(before ? with_model_of(*before, suggested) : suggested,
                               "the config for " + text.name, request.train.run.sets);
    for (std::string& path : c.data.valid.paths) path = absolute_path(path);
    if (!c.tokenizer.file.empty()) c.tokenizer.file = absolute_path(c.tokenizer.file);
    return c;
  };
  // Paths in the config will start at the run folder.
  PreparedStart start = prepare_start(request.train, config(), ".");
  RunConfig& c = start.prepared.config;
  if (!before && c.tokenizer.file.empty() && !own_tokenizer)
    log.info("tokens: " + suggestion.tokens);
  say_model(log, text, start.prepared, before ? request.train.init_from : "");

  const double limit = kMeasured * 60 * request.minutes;
  const Speed speed = measure_speed(start.prepared, [&](std::int64_t steps, double seconds) {
    return steps >= kMeasuredSteps || seconds > limit || stop_signal() != 0;
  });
  const double validations = (kValidations + 1) * measure_validation(start.prepared, speed, limit);
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  const double most =
      c.train.max_minutes > 0 ? 60 * c.train.max_minutes / speed.step_seconds : kNoLimit;
  const double left = kUsed * (60 * request.minutes - (seconds_now() - request.train.run.begin)) -
                      seconds_besides_training(text) - validations;
  const bool planned = !given.keys.contains("train.max_steps");
  const bool epochs = planned && c.train.max_epochs > 0;  // they end it, if there is time for them
  const double useful = epochs ? kNoLimit : suggestion.passes / start.prepared.plan.step_epochs;
  suggestion.steps = planned ? steps_in_time(std::min(most, left / speed.step_seconds), useful)
                             : c.train.max_steps;
  if (piped) {
    text.files = {kRunText};
    start.text = std::move(input);
  }
  c = config();
  plan_steps(start.prepared);
  const Plan& plan = start.prepared.plan;
  const bool reached = epochs && plan.steps > 0 && plan.steps < c.train.max_steps;
  if (reached) {  // the intervals are shares of the true end
    suggestion.steps = plan.steps;
    c = config();
    c.train.max_steps = 0;
    plan_steps(start.prepared);
  }
  const std::int64_t end = plan.steps > 0 ? plan.steps : c.train.max_steps;
  const double steps = static_cast<double>(end), passes = steps * plan.step_epochs;
  log.info(fmt::format(
      "steps: {}, {}{}; done in about {}", format_count(end),
      passes < 1 ? fmt::format("{:.3g} % of the text", 100 * passes)
                 : fmt::format("{:.3g} times through the text",
                               reached ? static_cast<double>(c.train.max_epochs) : passes),
      epochs && !reached
          ? fmt::format(" of train.max_epochs {} (--minutes M for more)", c.train.max_epochs)
      : !planned || reached || steps >= most ? ""
      : passes < 0.9 * suggestion.passes     ? " (--minutes M for more)"
                                             : " (more steps would only memorise it)",
      format_duration(steps * speed.step_seconds + validations)));
  log.info(fmt::format("run: {0}; Ctrl-C stops and saves, heed resume {0} continues",
                       shell_word(request.train.run.folder)));
  log.info(fmt::format("to repeat it byte for byte:\n  heed train {} --run {}{}",
                       shell_word((fs::path(request.train.run.folder) / kConfigFile).string()),
                       shell_word(request.train.run.folder + "-again"),
                       request.train.init_from.empty()
                           ? ""
                           : " --init-from " + shell_word(request.train.init_from) +
                                 (request.train.partial ? " --partial" : "")));
  return begin_run(start, request.train, log);
}

}  // namespace heed
