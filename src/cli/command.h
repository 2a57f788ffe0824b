// A command of heed: one function in its own file, one row in the table of commands.cpp.
//
// The function declares its options on its own local variables, parses, and does the work:
//
//   Exit run_sample(CommandLine& line) {
//     int max_tokens = 100;
//     line.add_model();
//     line.app.add_option("--max-tokens", max_tokens, "how many tokens to write");
//     line.parse();
//     ...
//   }
//
// --help shows the variables' initial values as defaults. CLI11 and fmt come with this header.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/number.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "data/run_config.h"
#include "data/split.h"
#include "step/crew.h"

namespace heed {
struct OwnText;

// Checks that an option is a number from `low` to `high`, or at least `low`; the message says
// what was expected. It becomes decimal: 010 is octal to CLI11.
template <class T>
CLI::Validator in_range(T low, T high) {
  const string range = !integral<T> && high == numeric_limits<T>::max()
                           ? fmt::format("of at least {}", low)
                           : fmt::format("from {} to {}", low, high);
  return {[=](string& text) {
            const optional<T> value = read_number<T>(text);
            if (!value || *value < low || *value > high)
              return fmt::format("expected a {} number {}; found \"{}\"",
                                 integral<T> ? "whole" : "finite", range, excerpt(text));
            if constexpr (integral<T>) text = to_string(*value);
            return string();
          },
          ""};
}

inline CLI::Validator not_empty() {
  return {
      [](const string& text) { return text.empty() ? "expected a text, found an empty one" : ""; },
      ""};
}

class CommandLine;
struct BeamOptions;
struct WritingRules;

struct Command {
  const char* name;
  const char* summary;  // one line, no full stop
  Exit (*run)(CommandLine& line);
  bool on_ranks = false;  // several ranks may do it together
};

class CommandLine {
 public:
  CommandLine(const Command& row, vector<string> args, const Crew& crew = {});

  const string command;  // "sample"
  const Crew crew;
  CLI::App app;                      // for options that only one command has
  bool quiet = false, json = false;  // every command has them
  string run, checkpoint;            // of add_model()
  string precision;                  // of add_precision(); "": as the run's
  string html;                       // of add_page(); "": none
  int threads = 0;                   // of add_threads(); 0: as in the config
  // Of add_texts() and add_targets(): TEXT and --target, or files ("-": standard input).
  optional<string> words, target, file, target_file, against;
  vector<string> with;  // of add_with()

  // The variables must live until parse(). A number from `low` to `high`, or at least `low`:
  template <class Variable, class Number>
  CLI::Option* add_number(const string& name, Variable& variable, const string& text, Number low,
                          type_identity_t<Number> high = numeric_limits<Number>::max()) {
    return app.add_option(name, variable, text)->type_name("N")->transform(in_range(low, high));
  }
  // One of these words.
  CLI::Option* add_choice(const string& name, string& choice, const string& text,
                          const vector<string>& choices);

  // Options of several commands.
  CLI::Option* add_file(const string& name, auto& path, const string& text) {
    return app.add_option(name, path, text)->type_name("PATH")->check(not_empty());
  }
  // RUN, or a list of them, required, or an option; run_called() has found them.
  CLI::Option* add_run(auto& runs, const string& text = "run folder or checkpoint folder",
                       const string& name = "RUN") {
    return add_file(name, runs, text)->required(name == "RUN")->transform(run_finder());
  }
  void add_model();      // RUN and --checkpoint last|best|step-N|initial|PATH
  void add_precision();  // --precision float32|bfloat16
  void add_with();       // --with RUN, any number: models that predict together with it
  // TEXT, one or more arguments with options between them; or --file.
  void add_texts(const string& text,
                 const string& of_file = "its lines instead; - is standard input");
  void add_targets(const string& text);  // --target, --target-file
  void add_page();                       // --html FILE: the live page, opened at the text
  // Error (usage) if --html was given, and there may be more texts than one, or standard output is
  // also for something else. parse() asks; of a value given later, what writes the page.
  void check_page() const;
  void add_sets();     // --set KEY=VALUE, any number
  void add_threads();  // --threads N
  // Keys that are given by --set, and by `sets`.
  GivenKeys given(const vector<string>& sets = {}) const {
    return read_sets(appended(sets, sets_));
  }
  // --beam-size, --length-penalty, --max-length (0 if it is not given), and add_rules().
  void add_beam(BeamOptions& beam);
  void add_rules(WritingRules& rules);  // --no-repeat, --min-tokens
  void add_side();                      // --side source|target
  // --like, --columns, --for and --minutes, for a config made from a text.
  void add_like(OwnText& text);
  // A whole number from 1; 0 means "not given".
  CLI::Option* add_steps(const string& name, int64_t& steps, const string& text);
  // An option that may be repeated.
  CLI::Option* add_list(const string& name, vector<string>& values, const string& text,
                        const string& type);

  // Warns, unless this holds, that those of the options that were given have no effect: they have
  // one only `where`.
  void only_where(bool holds, std::initializer_list<const char*> options,
                  const string& where) const;

  // What --help prints: usage, arguments and options in two columns, and the notes.
  string help() const;

  // CLI::CallForHelp for --help, which run_command() prints. Error (Exit::usage) on a wrong option.
  void parse();

  // After parse(): gives an option, "temperature", another value. Error (usage) on a wrong one.
  void set(const string& name, const string& value);

  // Error (usage) if several `files` are standard input ("-").
  static void require_one_input(const vector<string>& files);

  bool has(const string& option) const;  // the command knows it
  bool has_text() const { return words || target || file; }
  Side side() const { return side_ == "source" ? Side::source : Side::target; }  // of add_side()

  // The command line, for origin.json: "heed train a.json --set 'data.train=a b'"
  string as_typed() const;

 private:
  string unexpected(const string& argument) const;  // the message for it
  string other_name(const string& argument) const;
  CLI::Validator run_finder() const;

  vector<string> args_;
  string side_ = "target";
  vector<string> sets_;
};

// What --help says of an option: "text: the kind of model: gpt, bert, t5 (default gpt)".
string about(const CLI::Option& option);

span<const Command> commands();  // in the order of the help

// Runs the command that `args` (without the program's name) begin with.
Exit run_command(const vector<string>& args, const Crew& crew = {});
// The same, on all ranks that a launcher started. Says what went wrong on standard error. The exit
// code; but if the reader closed our output, the process ends by SIGPIPE, as filters do.
int run_heed(const vector<string>& args);

// The run that a user means: a bare name that is none here is runs/NAME, if there is one.
string run_called(const string& typed);

// The path of the config that a user means (cli/config.cpp). A path is returned unchanged; of
// a run, that of its config. A bare name ("quickstart") that is not a file here is NAME.json in
// ./configs, or in the configs of this program's clone or installation. Error (usage) says which
// folders were searched, and lists their configs, or that it is a text.
string config_path(const string& typed);

// Where the relative paths in this config start: in its folder, or where those of its run do.
string data_folder_of(const string& config);

// Whether `heed train` takes this as a config: *.json, or a bare name that is not a file here.
// Everything else is text.
bool names_config(const string& typed);
// A file or folder that is neither a config nor a run: a text to train on.
bool is_text(const string& typed);

// What to try if `typed` does not exist: a config or file with a similar name, or "".
string missing_hint(const string& typed);

// In cli/<name>.cpp, or train.cpp (resume), evaluate.cpp (bleu), config.cpp (init), score.cpp
// (tokenize).
using RunCommand = Exit(CommandLine& line);
RunCommand run_ablate, run_attend, run_average, run_bench_command, run_bleu, run_compare,
    run_config, run_evaluate, run_explain, run_export, run_fill, run_gradcheck, run_init,
    run_inspect, run_neighbors, run_report, run_resume, run_rewind, run_runs, run_sample, run_score,
    run_tokenize, run_train, run_translate, run_verify, run_whence;

}  // namespace heed
