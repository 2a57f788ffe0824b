#include "cli/command.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "base/log.h"
#include "base/nearest.h"
#include "cli/output.h"
#include "data/run_config.h"
#include "decode/beam.h"
#include "store/layout.h"
#include "train/suggested_config.h"

namespace heed {
namespace {

// "lr" of "--lr=1e-3".
std::string option_word(const std::string& arg) {
  const std::size_t begin = std::min(arg.find_first_not_of('-'), arg.size());
  return arg.substr(begin, arg.find('=') - begin);
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

CLI::Option* CommandLine::add_choice(const std::string& name, std::string& choice,
                                     const std::string& text,
                                     const std::vector<std::string>& choices) {
  const std::string all = joined(choices);
  const auto chosen = [=](std::string& given) {
    const std::string lower = lower_case(given);
    if (std::ranges::count(choices, lower) == 0)
      return fmt::format("expected one of {}; found \"{}\"", all, excerpt(given));
    given = lower;
    return std::string();
  };
  return app_.add_option(name, choice, text)->transform(CLI::Validator(chosen, "{" + all + "}"));
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
  add_choice("--precision", precision_, "of the products (default: as the run was trained)",
             {"float32", "bfloat16"});
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
  add_number("--threads", threads_, "threads; 0 = as in the config, or all cores", 0, 1024);
  sets_key({"--threads"}, "train.threads");
}

void CommandLine::add_beam(BeamOptions& beam) {
  add_number("--beam-size", beam.beam_size, "hypotheses kept at each step; 1: greedy", 1, 1000);
  add_number("--length-penalty", beam.length_penalty,
             "0: the most probable translation; larger favours longer ones", 0.0,
             kMaxLengthPenalty);
  beam.max_length = 0;
  add_number("--max-length", beam.max_length,
             "most tokens of a translation; 0: the longest training target and a quarter", 0,
             1'000'000);
  add_rules(beam.rules);
}

void CommandLine::add_rules(WritingRules& rules) {
  add_number("--no-repeat", rules.no_repeat, "write no N tokens in a row twice; 0: any", 0,
             1'000'000);
  add_number("--min-tokens", rules.min_tokens, "do not end a text before N tokens", 0, 1'000'000);
}

void CommandLine::add_side() {
  add_choice("--side", side_, "which vocabulary, if source and target have their own",
             {"source", "target"});
}

CLI::Option* CommandLine::add_like(std::string& like) {
  return add_choice("--like", like, "text: the kind of model", families());
}

CLI::Option* CommandLine::add_minutes(double& minutes) {
  return add_number("--minutes", minutes, "text: how long training may take", 1e-3, 1e6);
}

CLI::Option* CommandLine::add_steps(const std::string& name, std::int64_t& steps,
                                    const std::string& text) {
  // train.max_steps may be twice as large.
  return add_number(name, steps, text, std::int64_t{1}, 500'000'000'000)->default_str("");
}

void CommandLine::sets_key(std::initializer_list<const char*> options, const char* key) {
  for (const char* name : options) keys_.emplace_back(app_.get_option(name), key);
}

GivenKeys CommandLine::given() const {
  GivenKeys given = read_sets(sets_);
  for (const auto& [option, key] : keys_)
    if (option->count() > 0 && (given.contains(key) || given.reset.contains(key)))
      throw usage_error("{0} and --set {1} both set {1}.", option->get_name(), key)
          .hint("one of them");
  return given;
}

void CommandLine::only_where(bool holds, std::initializer_list<const char*> options,
                             const std::string& where) const {
  std::vector<std::string> given;
  for (const std::string name : options)
    if (!holds && has(name) && app_.count(name) > 0) given.push_back(name);
  if (!given.empty())
    Log({.quiet = quiet_}).warn(fmt::format("no effect: {} (only {})", joined(given), where));
}

void CommandLine::parse() {
  for (CLI::Option* option : app_.get_options())
    if (const std::string type = option->get_type_name(); type == "PATH" || type == "FILE")
      option->check([](const std::string& given) -> std::string {
        return given.empty() ? "expected a path, found an empty text" : "";
      });
  try {
    app_.parse(std::vector<std::string>(args_.rbegin(), args_.rend()));  // as CLI11 wants them
  } catch (const CLI::CallForHelp&) {
    throw;
  } catch (const CLI::ExtrasError&) {
    std::vector<std::string> left = app_.remaining();
    std::erase(left, "--");
    throw usage_error("{}", unexpected(left.front())).hint(hint());
  } catch (const CLI::ParseError& e) {  // "--set: 1 required KEY=VALUE missing"
    const std::string what = e.what();
    const CLI::Option* option = app_.get_option_no_throw(what.substr(0, what.find(':')));
    const bool values = option != nullptr && e.get_name() == "ArgumentMismatch";
    throw usage_error("{}{}", what, (values ? " (" + option->get_description() + ")" : ""))
        .hint(hint());
  }
  if (texts_ != nullptr) {
    join_words();
    check_texts();
  }
  find_runs();
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
    throw usage_error(":{} needs a value: {}.", name, option->get_description());
  option->clear();
  option->add_result(values[0]);
  option->run_callback();
} catch (const CLI::ParseError& e) {
  throw usage_error("{}", e.what());
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
        throw store_error("{} is a file, expected a run", quoted_path(*run))
            .hint(fmt::format("heed {} {}, the run of that name", name_, of_text));
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
      throw usage_error("{}", unexpected(word)).hint(hint());
    texts_->text = texts_->text ? *texts_->text + " " + word : word;
  }
}

void CommandLine::check_texts() const {
  const TextArguments& t = *texts_;
  if ((t.text || t.target) && (t.file || t.target_file))
    throw usage_error("{} and {} are both given; expected a text or a file.",
                      t.text ? "TEXT" : "--target", t.file ? "--file" : "--target-file")
        .hint(hint());
  if (t.target_file && !t.file)
    throw usage_error("--target-file needs the --file that it belongs to.");
  require_one_input({t.file.value_or(""), t.target_file.value_or(""), t.against.value_or("")});
}

void CommandLine::require_one_input(const std::vector<std::string>& files) {
  if (std::ranges::count(files, "-") > 1)
    throw usage_error("only one file can be standard input (-).");
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

}  // namespace heed
