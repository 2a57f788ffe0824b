#include "cli/command.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/std_names.h"
#include "cli/output.h"
#include "data/run_config.h"
#include "decode/beam.h"
#include "store/run_folder.h"
#include "train/suggested_config.h"

namespace heed {
namespace {

// "lr" of "--lr=1e-3".
string option_word(const string& arg) {
  const size_t begin = min(arg.find_first_not_of('-'), arg.size());
  return arg.substr(begin, arg.find('=') - begin);
}

// The config key that ends in an option's name (max-steps), or "".
string key_called(const string& word) {
  const string end = "." + replace_all(word, "-", "_");
  RunConfig config;
  for (const Leaf& leaf : leaves(fields(config)))
    if (("." + leaf.key).ends_with(end)) return leaf.key;
  return "";
}

// Also a run that has lost its config.json.
bool has_a_model(const string& path) {
  return is_folder(fs::path(path) / kCheckpoints) || is_checkpoint(path);
}

}  // namespace

string run_called(const string& typed) {
  const string name = typed.substr(0, typed.size() - typed.ends_with('/'));
  const bool elsewhere = !name.empty() && name.find('/') == name.npos && !has_a_model(typed) &&
                         has_a_model("runs/" + name);
  return elsewhere ? "runs/" + name : typed;
}

CommandLine::CommandLine(const Command& row, vector<string> args, const Crew& crew_)
    : command(row.name), crew(crew_), app(row.summary, "heed " + command), args_(std::move(args)) {
  app.option_defaults()->always_capture_default();
  app.allow_extras();  // parse() judges them
  app.set_help_flag("-h,--help", "print this and exit");
  app.add_flag("--quiet,-q", quiet, "only warnings and errors on standard error");
  app.add_flag("--json", json, "machine-readable output");
}

CLI::Option* CommandLine::add_choice(const string& name, string& choice, const string& text,
                                     const vector<string>& choices) {
  const string all = joined(choices);
  const auto chosen = [=](string& given) {
    const string lower = lower_case(given);
    if (ranges::count(choices, lower) == 0)
      return fmt::format("expected one of {}; found \"{}\"", all, excerpt(given));
    given = lower;
    return string();
  };
  return app.add_option(name, choice, text)->transform(CLI::Validator(chosen, "{" + all + "}"));
}

void CommandLine::add_model() {
  add_run(run);
  app.add_option(
      "--checkpoint", checkpoint,
      "last, best, step-N, initial (the weights it began with) or a path (default: best, "
      "else last)");
  add_threads();
}

void CommandLine::add_precision() {
  add_choice("--precision", precision, "of the products (default: as the run was trained)",
             {"float32", "bfloat16"});
}

void CommandLine::add_texts(const string& text, const string& of_file) {
  // The words after the first one are extras: of several, CLI11 would split "[a, b]".
  app.add_option("TEXT", words, text);
  add_file("--file", file, of_file)->excludes("TEXT");
}

void CommandLine::add_targets(const string& text) {
  app.add_option("--target", target, text)->excludes("--file");
  add_file("--target-file", target_file, "with --file: the same for each of its lines")
      ->needs("--file");
}

CLI::Option* CommandLine::add_list(const string& name, vector<string>& values, const string& text,
                                   const string& type) {
  return app.add_option(name, values, text)
      ->type_name(type)
      ->check(not_empty())
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void CommandLine::add_sets() {
  add_list("--set", sets_, "set a config key (may be repeated): a.b=value", "KEY=VALUE");
}

void CommandLine::add_threads() {
  add_number("--threads", threads, "threads; 0 = as in the config, or all cores", 0, 1024);
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

void CommandLine::add_like(OwnText& text) {
  add_choice("--for", text.program, "text: the program that is to open the model", {"huggingface"});
  app.add_option("--columns", text.columns,
                 "table: the columns of source and target, as 1,3:2 (default: 1:2)")
      ->type_name("COLUMNS");
  add_choice("--like", text.like, "text: the kind of model (default: pairs for a table, else gpt)",
             families());
  add_number("--minutes", text.minutes, "text: how long training may take", 1e-3, 1e6);
}

CLI::Option* CommandLine::add_steps(const string& name, int64_t& steps, const string& text) {
  // train.max_steps may be twice as large.
  return add_number(name, steps, text, int64_t{1}, 500'000'000'000)->default_str("");
}

void CommandLine::only_where(bool holds, std::initializer_list<const char*> options,
                             const string& where) const {
  vector<string> given;
  for (const string name : options)
    if (!holds && has(name) && app.count(name) > 0) given.push_back(name);
  if (!given.empty())
    Log({.quiet = quiet}).warn(fmt::format("no effect: {} (only {})", joined(given), where));
}

void CommandLine::parse() {
  const string hint = app.get_name() + " --help";
  try {
    app.parse(vector<string>(args_.rbegin(), args_.rend()));  // as CLI11 wants them
  } catch (const CLI::CallForHelp&) {
    throw;
  } catch (const CLI::ParseError& e) {
    throw usage_error("{}", e.what()).hint(hint);
  }
  bool options_end = false;  // after "--"
  for (const string& word : app.remaining()) {
    if (!options_end && word == "--") {
      options_end = true;
      continue;
    }
    if (!has("TEXT") || (!options_end && word.size() > 1 && word.starts_with('-')))
      throw usage_error("{}", unexpected(word)).hint(hint);
    words = words ? *words + " " + word : word;
  }
  require_one_input({file.value_or(""), target_file.value_or(""), against.value_or("")});
  check_page();
}

void CommandLine::set(const string& name, const string& value) try {
  CLI::Option* option = app.get_option("--" + name);
  option->clear();
  option->add_result(value);
  option->run_callback();
} catch (const CLI::ParseError& e) {
  throw usage_error("{}", e.what());
}

CLI::Validator CommandLine::run_finder() const {
  return {[this](string& typed) {
            const string found = run_called(typed);
            if (found != typed) Log({.quiet = quiet}).info("run: " + found);
            typed = found;
            return string();
          },
          ""};
}

bool CommandLine::has(const string& name) const {
  return app.get_option_no_throw(name) != nullptr;
}

// How the message about another program's option ends, or "".
string CommandLine::other_name(const string& arg) const {
  const string word = option_word(arg);
  const auto option =
      find_trade_word("option", word, [&](const string& name) { return has(name); });
  if (option) return heed_calls_it(*option);
  if (!has("--set")) return "";
  string key = key_called(word), note;
  if (const auto known = find_trade_word("key", word); key.empty() && known) {
    if (known->heed.empty()) return heed_calls_it(*known);
    key = known->heed;
    if (!known->note.empty()) note = fmt::format(" ({})", known->note);
  }
  return key.empty() ? ""
                     : fmt::format("; it is a key of the config: --set {}=VALUE{}.", key, note);
}

void CommandLine::require_one_input(const vector<string>& files) {
  if (ranges::count(files, "-") > 1) throw usage_error("only one file can be standard input (-).");
}

string CommandLine::unexpected(const string& first) const {
  const string typed = "--" + option_word(first);
  if (!first.starts_with('-') || typed == "--")
    return fmt::format("unexpected argument \"{}\".", excerpt(first));
  vector<string> names;
  for (const CLI::Option* option : app.get_options())
    for (const string& name : option->get_lnames()) names.push_back("--" + name);
  vector<string> longer;
  for (const string& name : names)
    if (name.starts_with(typed)) longer.push_back("\"" + name + "\"");
  string end =
      longer.empty() ? other_name(first) : fmt::format("; did you mean {}?", listed(longer, "or"));
  if (end.empty()) end = did_you_mean(nearest(typed, names));
  return fmt::format("unknown option \"{}\"{}", excerpt(first), end);
}

string CommandLine::as_typed() const {
  string out = app.get_name();
  for (const string& arg : args_) out += " " + shell_word(arg);
  return out;
}

}  // namespace heed
