#include "cli/command.h"

#include <algorithm>
#include <filesystem>
#include <regex>

#include "base/files.h"
#include "base/folders.h"
#include "base/format.h"
#include "base/log.h"
#include "base/nearest.h"
#include "cli/output.h"
#include "data/run_config.h"
#include "decode/beam.h"
#include "decode/ensemble.h"
#include "math/arithmetic.h"
#include "store/layout.h"
#include "store/run_folder.h"
#include "train/suggested_config.h"
#include "train/text_start.h"

namespace heed {
namespace {

// "lr" of "--lr=1e-3".
std::string option_word(const std::string& arg) {
  const std::size_t begin = std::min(arg.find_first_not_of('-'), arg.size());
  return arg.substr(begin, arg.find('=') - begin);
}

std::string no_empty_path(const std::string& given) {
  return given.empty() ? "expected a path, found an empty text" : "";
}

// Not given, or with the value that it has anyway.
bool has_default(const CLI::Option& option) {
  double value = 0, usual = 0;
  return option.count() == 0 || option.results()[0] == option.get_default_str() ||
         (CLI::detail::lexical_cast(option.results()[0], value) &&
          CLI::detail::lexical_cast(option.get_default_str(), usual) && value == usual);
}

// CLI11 says "--kind: x not in {encoder,decoder}".
std::string said(const CLI::ParseError& e) {
  static const std::regex member(R"(: (.*) not in \{(.*)\}$)");
  return std::regex_replace(e.what(), member, ": expected one of $2; found \"$1\"") + ".";
}

// The config key that ends in an option's name (max-steps), or "".
std::string key_called(std::string word) {
  std::replace(word.begin(), word.end(), '-', '_');
  RunConfig config;
  const std::vector<Field> all = fields(config);
  for (const Leaf& leaf : leaves(all))
    if (leaf.key == word || leaf.key.ends_with("." + word)) return leaf.key;
  return "";
}

}  // namespace

CommandLine::CommandLine(const Command& command, std::vector<std::string> args, const Crew& crew)
    : name_(command.name),
      args_(std::move(args)),
      crew_(crew),
      app_(command.summary, "heed " + name_) {
  app_.footer(help_notes(command.name));
  app_.option_defaults()->always_capture_default();
  app_.set_help_flag("-h,--help", "print this and exit");
  app_.add_flag("--quiet,-q", quiet_, "only warnings and errors on standard error");
  app_.add_flag("--json", json_, "machine-readable output");
}

CLI::Option* CommandLine::add_file(const std::string& name, std::string& path,
                                   const std::string& text, const std::string& type) {
  return app_.add_option(name, path, text)->type_name(type);
}

CLI::Option* CommandLine::add_run(std::string& run, const std::string& text,
                                  const std::string& name) {
  runs_.push_back(&run);
  return add_file(name, run, text)->required(name == "RUN");
}

void CommandLine::add_runs(std::vector<std::string>& runs, const std::string& text,
                           const std::string& name) {
  run_lists_.push_back(&runs);
  app_.add_option(name, runs, text)->default_str("")->required(name == "RUN");
}

void CommandLine::add_model() {
  add_run(run_);
  app_.add_option(
      "--checkpoint", checkpoint_,
      "last, best, step-N, initial (the weights it began with) or a path (default: best, "
      "else last)");
  add_threads();
}

void CommandLine::add_precision() {
  app_.add_option("--precision", precision_, "of the products (default: as the run was trained)")
      ->check(CLI::IsMember({"float32", "bfloat16"}));
  only_where({"--precision"}, "for a run of train.arithmetic native", [this](auto* model) {
    return !model || model->train.arithmetic == Arithmetic::native || precision_ == "float32";
  });
}

void CommandLine::add_with() {
  add_list("--with", with_,
           "predict together with this run's best (may be repeated): the mean of the probabilities",
           "RUN");
  run_lists_.push_back(&with_);
}

void CommandLine::add_texts(TextArguments& texts, const std::string& text,
                            const std::string& file) {
  texts_ = &texts;
  app_.allow_extras();
  app_.add_option("TEXT", texts.text, text);
  app_.add_option("--file", texts.file, file)->type_name("FILE");
}

void CommandLine::add_targets(TextArguments& texts, const std::string& text) {
  app_.add_option("--target", texts.target, text);
  app_.add_option("--target-file", texts.target_file, "with --file: the same for each of its lines")
      ->type_name("FILE");
}

void CommandLine::add_list(const std::string& name, std::vector<std::string>& values,
                           const std::string& text, const std::string& type) {
  app_.add_option(name, values, text)
      ->type_name(type)
      ->expected(1)
      ->allow_extra_args(false)
      ->default_str("")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void CommandLine::add_sets() {
  add_list("--set", sets_, "set a config key (may be repeated): a.b=value", "KEY=VALUE");
}

void CommandLine::add_threads() {
  app_.add_option("--threads", threads_, "threads; 0 = as in the config, or all cores")
      ->check(in_range(0, 1024));
  sets_key({"--threads"}, "train.threads");
}

void CommandLine::add_beam(BeamOptions& beam) {
  app_.add_option("--beam-size", beam.beam_size, "hypotheses kept at each step; 1: greedy")
      ->check(in_range(1, 1000));
  app_.add_option("--length-penalty", beam.length_penalty,
                  "0: the most probable translation; larger favours longer ones")
      ->check(in_range(0.0, kMaxLengthPenalty));
  beam.max_length = 0;
  app_.add_option("--max-length", beam.max_length,
                  "most tokens of a translation; 0: the longest training target and a quarter")
      ->check(in_range(0, 1'000'000));
  add_rules(beam.rules);
}

void CommandLine::add_rules(WritingRules& rules) {
  const CLI::Validator count = in_range(0, 1'000'000);
  app_.add_option("--no-repeat", rules.no_repeat, "write no N tokens in a row twice; 0: any")
      ->check(count);
  app_.add_option("--min-tokens", rules.min_tokens, "do not end a text before N tokens")
      ->check(count);
}

void CommandLine::add_side(std::string& side) {
  app_.add_option("--side", side, "which vocabulary, if source and target have their own")
      ->check(CLI::IsMember({"source", "target"}));
  only_where({"--side"}, "for a model with an encoder",
             [](auto* model) { return !model || model->model.encoder_layers > 0; });
}

CLI::Option* CommandLine::add_like(std::string& like) {
  return app_.add_option("--like", like, "text: the kind of model")
      ->transform(CLI::IsMember(families(), CLI::ignore_case));
}

CLI::Option* CommandLine::add_minutes(double& minutes) {
  return app_.add_option("--minutes", minutes, "text: how long training may take")
      ->check(in_range(1e-3, 1e6));
}

CLI::Option* CommandLine::add_steps(const std::string& name, std::int64_t& steps,
                                    const std::string& text) {
  // train.max_steps may be twice as large.
  return app_.add_option(name, steps, text)
      ->default_str("")
      ->check(in_range(std::int64_t{1}, std::int64_t{500'000'000'000}));
}

void CommandLine::sets_key(std::initializer_list<const char*> options, const char* key) {
  for (const char* name : options) keys_.emplace_back(app_.get_option(name), key);
}

GivenKeys CommandLine::given() const {
  GivenKeys given = read_sets(sets_);
  for (const auto& [option, key] : keys_)
    if (option->count() > 0 && (given.contains(key) || given.reset.contains(key)))
      throw Error(Exit::usage,
                  fmt::format("{0} and --set {1} both set {1}.", option->get_name(), key),
                  "one of them");
  return given;
}

void CommandLine::only_where(std::initializer_list<const char*> options, const std::string& where,
                             const Holds& holds) {
  for (const char* name : options) {
    CLI::Option* option = app_.get_option(name);
    option->description(where + ": " + option->get_description());
    effects_.push_back({option, where, holds});
  }
}

void CommandLine::check_effects(const RunConfig* model) const {
  for (const auto& [option, where, holds] : effects_)
    if (!has_default(*option) && !holds(model))
      throw Error(Exit::usage, fmt::format("{} has an effect only {}.", option->get_name(), where),
                  hint());
}

bool CommandLine::parse() {
  for (CLI::Option* option : app_.get_options()) {
    const std::string type = option->get_type_name();
    if (type == "PATH" || type == "FILE") option->check(no_empty_path);
    if (type.starts_with("INT") || type.starts_with("UINT"))
      option->transform([](const std::string& text) {  // 010 is octal to CLI11
        const auto number = read_number<std::uint64_t>(text);
        return number ? std::to_string(*number) : text;
      });
  }
  try {
    app_.parse(std::vector<std::string>(args_.rbegin(), args_.rend()));  // as CLI11 wants them
  } catch (const CLI::CallForHelp&) {
    print(help());
    return false;
  } catch (const CLI::ExtrasError&) {
    std::vector<std::string> left = app_.remaining();
    std::erase(left, "--");
    throw Error(Exit::usage, unexpected(left.front()), hint());
  } catch (const CLI::ConversionError& e) {  // "...: --top-p = high"
    const std::string what = e.what();
    throw Error(Exit::usage, "cannot read the value of " + what.substr(what.find("--")) + ".",
                hint());
  } catch (const CLI::ArgumentMismatch& e) {
    throw Error(Exit::usage, mistake(e.what()), hint());
  } catch (const CLI::ParseError& e) {
    throw Error(Exit::usage, said(e), hint());
  }
  check_order();
  if (texts_ != nullptr) {
    join_words();
    check_texts();
  }
  check_effects();
  find_runs();
  return true;
}

// --to B1 B2 A1 A2: where --to ends is not known.
void CommandLine::check_order() const {
  const std::vector<CLI::Option*>& given = app_.parse_order();
  const auto takes_all = [](const CLI::Option* o) {
    return !o->get_positional() &&
           o->get_items_expected_max() >= CLI::detail::expected_max_vector_size;
  };
  const auto list = std::ranges::find_if(given, takes_all);
  const auto after = std::find_if(list, given.end(), std::mem_fn(&CLI::Option::get_positional));
  if (after != given.end())
    throw Error(Exit::usage,
                fmt::format("{} comes before {}.", (*after)->get_name(true), (*list)->get_name()),
                hint());
}

// `what` begins with the name of an option that has too few values, or too many.
std::string CommandLine::mistake(const std::string& what) const {
  const std::string name = what.substr(0, what.find(':'));
  const CLI::Option* option = app_.get_option_no_throw(name);
  if (option == nullptr) return what + ".";
  return static_cast<int>(option->count()) > option->get_items_expected_max()
             ? name + " is given more than once."
             : fmt::format("{} needs a value: {}.", name, option->get_description());
}

std::string CommandLine::hint() const {
  for (const std::string& arg : args_)
    if (arg.starts_with('-') && arg != "-" && path_exists(arg))
      return shell_word("./" + arg) + ", if it is the file";
  return app_.get_name() + " --help";
}

void CommandLine::set(const std::string& name, const std::vector<std::string>& values) try {
  CLI::Option* option = app_.get_option("--" + name);
  if (values.size() != 1)
    throw Error(Exit::usage,
                fmt::format(":{} needs a value: {}.", name, option->get_description()));
  option->clear();
  option->add_result(values[0]);
  option->run_callback();
} catch (const CLI::ParseError& e) {
  throw Error(Exit::usage, said(e));
}

void CommandLine::find_runs() {
  const auto can_be_read = [](const std::string& path) {
    std::error_code none;  // also a run that has lost its config.json
    return std::filesystem::is_directory(std::filesystem::path(path) / kCheckpoints, none) ||
           is_checkpoint(path);
  };
  std::vector<std::string*> runs = runs_;
  for (std::vector<std::string>* list : run_lists_)
    for (std::string& run : *list) runs.push_back(&run);
  for (std::string* run : runs) {
    const std::string name = run->ends_with('/') ? run->substr(0, run->size() - 1) : *run;
    const std::string in_runs = (std::filesystem::path("runs") / name).string();
    const bool name_alone = !name.empty() && name.find('/') == std::string::npos;
    std::error_code none;
    if (std::filesystem::is_regular_file(*run, none)) {
      const std::string of_text = name_of_text(*run);
      if (can_be_read((std::filesystem::path("runs") / of_text).string()))
        throw Error(Exit::store, quoted_path(*run) + " is a file, expected a run",
                    fmt::format("heed {} {}, the run of that name", name_, of_text));
    }
    if (!name_alone || can_be_read(*run) || !can_be_read(in_runs)) continue;
    Log({.quiet = quiet_}).info("run: " + in_runs);
    *run = in_runs;
  }
}

bool CommandLine::has(const std::string& name) const {
  return app_.get_option_no_throw(name) != nullptr;
}

std::string CommandLine::value_after(const std::string& arg) const {
  const std::size_t equals = arg.find('=');
  if (equals != std::string::npos) return arg.substr(equals + 1);
  const auto next = std::find(args_.begin(), args_.end(), arg) + 1;
  return next < args_.end() && !next->starts_with('-') ? *next : "VALUE";
}

// How the message about another program's option ends, or "".
std::string CommandLine::meant(const std::string& arg) const {
  const std::string word = option_word(arg);
  const auto option =
      find_trade_word("option", word, [&](const std::string& name) { return has(name); });
  if (option) return heed_calls_it(*option);
  if (!has("--set")) return "";
  std::string key = key_called(word), value = shell_word(value_after(arg)), note;
  if (const auto known = find_trade_word("key", word); key.empty() && known) {
    if (known->heed.empty()) return heed_calls_it(*known);
    key = known->heed;
    if (!known->note.empty()) {  // its values differ too, unless it names another key
      if (!known->note.starts_with("for ")) value = "VALUE";
      note = fmt::format(" ({})", known->note);
    }
  }
  return key.empty() ? ""
                     : fmt::format("; it is a key of the config: --set {}={}{}.", key, value, note);
}

void CommandLine::join_words() {
  bool options_end = false;  // after "--"
  for (const std::string& word : app_.remaining()) {
    if (!options_end && word == "--") {
      options_end = true;
      continue;
    }
    if (!options_end && word.size() > 1 && word.starts_with('-'))
      throw Error(Exit::usage, unexpected(word), hint());
    texts_->text = texts_->text ? *texts_->text + " " + word : word;
  }
}

void CommandLine::check_texts() const {
  const TextArguments& t = *texts_;
  if ((t.text || t.target) && (t.file || t.target_file))
    throw Error(Exit::usage,
                fmt::format("{} and {} are both given; expected a text or a file.",
                            t.text ? "TEXT" : "--target", t.file ? "--file" : "--target-file"),
                app_.get_name() + " --help");
  if (t.target_file && !t.file)
    throw Error(Exit::usage, "--target-file needs the --file that it belongs to.");
  require_one_input({t.file.value_or(""), t.target_file.value_or(""), t.against.value_or("")});
}

void CommandLine::require_one_input(const std::vector<std::string>& files) {
  if (std::ranges::count(files, "-") > 1)
    throw Error(
        Exit::usage,
        "only one file (--file, --target-file, --against, HYP, REF) can be standard input (-).");
}

std::string CommandLine::unexpected(const std::string& first) const {
  const std::string typed = "--" + option_word(first);
  if (!first.starts_with('-') || typed == "--")
    return fmt::format("unexpected argument \"{}\".", excerpt(first));
  std::vector<std::string> names;
  for (const CLI::Option* option : app_.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  std::vector<std::string> longer;
  for (const std::string& name : names)
    if (name.starts_with(typed)) longer.push_back("\"" + name + "\"");
  std::string end =
      longer.empty() ? meant(first) : fmt::format("; did you mean {}?", listed(longer, "or"));
  if (end.empty()) end = did_you_mean(nearest(typed, names));
  return fmt::format("unknown option \"{}\"{}", excerpt(first), end);
}

std::string CommandLine::as_typed() const {
  std::string out = app_.get_name();
  for (const std::string& arg : args_) out += " " + shell_word(arg);
  return out;
}

OpenModel::OpenModel(const CommandLine& line)
    : TrainedModel(load_trained_model(line.run(), line.checkpoint())),
      log({.quiet = line.quiet()}),
      pool(thread_count(line.threads(), config)) {
  line.check_effects(&config);
  prepare_arithmetic(config.train.arithmetic, pool.threads());
  const auto choose_products = [&](TrainedModel& m) {
    if (!line.has("--precision")) return;
    const bool rounded = line.precision().empty() ? m.config.train.precision == Precision::bfloat16
                                                  : line.precision() == "bfloat16";
    m.score_in(rounded ? Precision::bfloat16 : Precision::float32);
    if (rounded) log.info("precision: bfloat16, " + bfloat16_info());
  };
  choose_products(*this);
  std::vector<std::string> runs = {line.checkpoint().empty() ? line.run() : folder.string()};
  for (const std::string& with : line.with()) {
    TrainedModel& other = others.emplace_back(load_trained_model(with, ""));
    choose_products(other);
    runs.push_back(with);
    std::vector<std::string> differ;
    for (const KeyChange& change : misfits(config, other.config))
      differ.push_back(in_words(change));
    if (differ.empty() && other.tokenizers.files() != tokenizers.files())
      differ.push_back("another vocabulary: tokenizer");
    if (!differ.empty())
      throw Error(Exit::usage, fmt::format("--with {} does not fit: {}.", with, joined(differ)),
                  "runs that differ in seed, shape or training");
  }
  if (others.empty()) return;
  if (const std::string same = same_models(runs); !same.empty()) log.warn(same);
  for (const TrainedModel& other : others) model.others.push_back({&other.model, &other.values});
}

}  // namespace heed
