#include "cli/command.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/format.h"
#include "base/nearest.h"
#include "cli/output.h"
#include "decode/beam.h"

namespace heed {

CommandLine::CommandLine(const Command& command, std::vector<std::string> args)
    : name_(std::string("heed ") + command.name),
      args_(std::move(args)),
      app_(std::make_unique<CLI::App>(command.summary, name_)) {
  app_->option_defaults()->always_capture_default();
  app_->set_help_flag("-h,--help", "print this and exit");
  app_->add_flag("--quiet,-q", quiet_, "only warnings and errors on standard error");
}

CommandLine::~CommandLine() = default;

CLI::Option* CommandLine::add_file(const std::string& name, std::string& path,
                                   const std::string& text, const std::string& type) {
  return app_->add_option(name, path, text)->type_name(type);
}

void CommandLine::add_run(std::string& run) {
  add_file("RUN", run, "run folder or checkpoint folder")->required();
}

void CommandLine::add_model(std::string& run, std::string& checkpoint) {
  add_run(run);
  app_->add_option("--checkpoint", checkpoint,
                   "last, best, step-N or a path (default: best, else last)");
}

CLI::Option* CommandLine::add_text(std::optional<std::string>& text, const std::string& what) {
  text_ = &text;
  app_->allow_extras();
  return app_->add_option("TEXT", text, what + "; its words need no quotes");
}

void CommandLine::add_config(std::string& config) {
  add_file("CONFIG", config, "config file (JSON)")->required();
}

void CommandLine::add_list(const std::string& name, std::vector<std::string>& values,
                           const std::string& text, const std::string& type) {
  app_->add_option(name, values, text)
      ->type_name(type)
      ->expected(1)
      ->default_str("")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void CommandLine::add_sets(std::vector<std::string>& sets) {
  add_list("--set", sets, "set a config key (may be repeated): a.b=value", "KEY=VALUE");
}

void CommandLine::add_threads(int& threads) {
  app_->add_option("--threads", threads, "threads; 0 = as in the config, or all cores")
      ->check(CLI::Range(0, 1024));
}

void CommandLine::add_json(bool& json) {
  app_->add_flag("--json", json, "machine-readable output");
}

CLI::Option* CommandLine::add_steps(const std::string& name, std::int64_t& steps,
                                    const std::string& text) {
  // train.max_steps may be twice as large.
  return app_->add_option(name, steps, text)
      ->default_str("")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{500'000'000'000}));
}

bool CommandLine::parse() {
  try {
    std::vector<std::string> reversed(args_.rbegin(), args_.rend());  // as CLI11 wants them
    app_->parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    print(app_->help());
    return false;
  } catch (const CLI::ExtrasError& e) {
    std::vector<std::string> left = app_->remaining();
    std::erase(left, "--");
    throw Error(Exit::usage, unexpected(left.front()), name_ + " --help");
  } catch (const CLI::ParseError& e) {
    throw Error(Exit::usage, std::string(e.what()) + ".", name_ + " --help");
  }
  if (text_ != nullptr) join_words();
  return true;
}

void CommandLine::join_words() {
  bool options_end = false;  // after "--"
  for (const std::string& word : app_->remaining()) {
    if (!options_end && word == "--") {
      options_end = true;
      continue;
    }
    if (!options_end && word.size() > 1 && word.starts_with('-'))
      throw Error(Exit::usage, unexpected(word), name_ + " --help");
    *text_ = text_->value_or("") + (*text_ ? " " : "") + word;
  }
}

std::string CommandLine::unexpected(const std::string& first) const {
  if (!first.starts_with('-')) return fmt::format("unexpected argument \"{}\".", first);
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::string typed = first.substr(0, first.find('='));
  const auto longer = std::find_if(
      names.begin(), names.end(), [&](const std::string& name) { return name.starts_with(typed); });
  const std::string near = longer != names.end() ? *longer : nearest(typed, names);
  return fmt::format("unknown option \"{}\"{}", first, did_you_mean(near));
}

std::string CommandLine::as_typed() const {
  std::string out = name_;
  for (const std::string& arg : args_) out += " " + shell_word(arg);
  return out;
}

void check_length_penalty(double length_penalty) {
  if (!(length_penalty >= 0 && length_penalty <= kMaxLengthPenalty))
    throw Error(Exit::usage, fmt::format("--length-penalty must be between 0 and {}; found {:.3f}.",
                                         kMaxLengthPenalty, length_penalty));
}

}  // namespace heed
