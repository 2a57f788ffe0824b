// The table of commands, how one is chosen and run, what failures say, and what heed COMMAND --help
// prints, in the terminal's width.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/nearest.h"
#include "base/pool.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/objective.h"
#include "math/blas.h"
#include "store/model.h"
#include "store/run_folder.h"
#include "train/ranks.h"

namespace heed {

extern const char* const help_txt;  // cli/help/*.txt, each below "= COMMAND"

namespace {

constexpr size_t kFirst = 8;  // commands for the first day
constexpr Command kCommands[] = {
    {"train", "train a model on a text, or from a config, in a new run folder", run_train, true},
    {"sample", "continue a text", run_sample},
    {"report", "write one page about a run", run_report},
    {"attend", "show where each head of each layer looks", run_attend},
    {"evaluate", "measure loss, perplexity, accuracy and BLEU", run_evaluate},
    {"translate", "translate lines", run_translate},
    {"resume", "continue a run exactly where it stopped", run_resume, true},
    {"runs", "list the runs in a folder and what they differ in", run_runs},
    {"explain", "explain one prediction: every layer, who wrote it, one head", run_explain},
    {"whence", "tell which lines of the training taught an answer", run_whence},
    {"ablate", "measure what each head, layer and kind of attention is worth", run_ablate},
    {"neighbors", "list the tokens nearest to words in the embedding", run_neighbors},
    {"compare", "tell whether one run is better than another, or had luck", run_compare},
    {"score", "print the log-probability of lines", run_score},
    {"fill", "list the most probable words or spans for each [MASK]", run_fill},
    {"inspect", "list the tensors and how far training has moved them", run_inspect},
    {"tokenize", "show how lines are split into tokens", run_tokenize},
    {"init", "write a commented config for a text", run_init},
    {"config", "print the effective config, its JSON Schema or its documentation", run_config},
    {"average", "average the weights of several checkpoints", run_average},
    {"rewind", "train any earlier step of a run anew, byte for byte", run_rewind},
    {"export", "write a model as other programs open it", run_export},
    {"bleu", "measure translations in any file: BLEU, chrF2, character errors", run_bleu},
    {"verify", "check a run or a checkpoint for damage", run_verify},
    {"bench", "measure how fast training is on this machine", run_bench_command, true},
    {"gradcheck", "check every gradient against finite differences", run_gradcheck},
};

string overview() {
  string out =
      "heed trains small transformers on your own text and shows what they learnt.\n\n"
      "usage: heed COMMAND [OPTIONS]\n\ncommands:\n";
  for (const Command& command : kCommands) {
    if (&command == kCommands + kFirst) out += "\nmore:\n";
    out += fmt::format("  {:12}{}\n", command.name, command.summary);
  }
  out += "\nheed COMMAND --help explains a command; heed --version describes this build.\n";
  return wrapped(out, output_columns(), string(14, ' '));
}

constexpr size_t kNames = 20;  // columns of the names

// "--minutes N", "-q, --quiet", "RUN"
string names_of(const CLI::Option& o) {
  if (o.get_positional()) return o.get_single_name();
  const string type = o.get_type_name(), names = replace_all(o.get_name(false, true), ",", ", ");
  return names + (o.get_items_expected_max() == 0 ? "" : " " + type.substr(0, type.find(':')));
}

// What --help of a command says below its options: cli/help/COMMAND.txt, a line per paragraph.
string help_notes(const string& command) {
  const string all = string("\n") + help_txt, head = "\n= " + command + "\n";
  const size_t at = all.find(head);
  if (at == string::npos) return "";
  const size_t begin = at + head.size();
  string text = all.substr(begin, min(all.find("\n= ", begin), all.size() - 1) - begin);
  // A paragraph becomes a line; what is indented keeps its own.
  text = replace_all(replace_all(text, "\n\n", "\f"), "\n  ", "\f  ");
  return replace_all(replace_all(text, "\n", " "), "\f", "\n");
}

// The exception that is being handled.
Error failure() {
  try {
    throw;
  } catch (const Error& e) {
    return e;
  } catch (const bad_alloc&) {
    return {Exit::memory, "not enough memory.",
            "more of it (ulimit -v and -d limit it too), a smaller model or "
            "train.micro_batch_tokens, shorter texts, or fewer --threads"};
  } catch (const fs::filesystem_error& e) {
    return {Exit::store, "cannot look at \"" + e.path1().string() + "\": " + e.code().message()};
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::resource_unavailable_try_again) return {Exit::internal, e.what()};
    // A library's thread: SentencePiece trains with one.
    return {Exit::memory, string("cannot start a thread: ") + e.what(), kMoreThreads};
  } catch (const std::exception& e) {
    return {Exit::internal, e.what()};
  }
}

// Says it; `where`: in which process. Its exit code.
Exit say_failure(const string& where) {
  const Error error = failure();
  print_error(where + error.what());
  return error.exit();
}

}  // namespace

string about(const CLI::Option& o) {
  string text = o.get_description();
  const string type = o.get_type_name(), value = o.get_default_str();
  if (const size_t begin = type.find(":{"); begin != string::npos)
    text += ": " + type.substr(begin + 2, type.size() - begin - 3);
  // (An empty list is "[]" or "{}", an empty path "\"\"".)
  if (value.find_first_not_of("[]{}\"") != value.npos && o.get_items_expected_max() > 0)
    text += fmt::format(" (default {})", value);
  return text;
}

string CommandLine::help() const {
  const int width = clamp(terminal_width(STDOUT_FILENO), 40, 100);
  string arguments, usage = "usage: " + app.get_name();
  for (const bool positional : {true, false})
    for (const CLI::Option* o : app.get_options()) {
      if (o->get_positional() != positional) continue;
      const string names = names_of(*o);
      if (positional) usage += o->get_required() ? " " + names : " [" + names + "]";
      const string first = fmt::format("  {:{}}", names, kNames - 2), pad(kNames, ' ');
      const string text = wrapped(pad + about(*o), width, pad);
      arguments += names.size() + 3 > kNames ? first + "\n" + text + "\n"
                                             : first + text.substr(kNames) + "\n";
    }
  const string notes = help_notes(command);
  return wrapped(app.get_description() + "\n\n" + usage + " [OPTIONS]\n\n", width) + arguments +
         (notes.empty() ? "" : "\n" + wrapped(notes, width) + "\n");
}

span<const Command> commands() {
  return kCommands;
}

Exit run_command(const vector<string>& args, const Crew& crew) {
  const string name = args.empty() ? "--help" : args.front();
  if (name == "help" && args.size() > 1) return run_command({args[1], "--help"}, crew);
  if (name == "--help" || name == "-h" || name == "help") {
    print(overview());
    return Exit::ok;
  }
  if (name == "--version") {
    prepare_blas();
    const string blas = blas_info(), fault = portable_fault();
    print("heed " HEED_VERSION "\nbuild: " HEED_BUILD "\ncompiler: " HEED_COMPILER " " __VERSION__
          "\n" +
          blas + "MPI: " + mpi_info() +
          "\nbfloat16: " + make_products(Precision::bfloat16)->info() +
          "\nportable arithmetic: " + (fault.empty() ? "available" : fault) + "\n");
    return Exit::ok;
  }
  vector<string> names;
  for (const Command& command : kCommands) {
    names.push_back(command.name);
    if (name != command.name) continue;
    if (!crew.alone() && !command.on_ranks)
      throw usage_error("heed {} works alone, and a launcher started {} of it.", name, crew.ranks())
          .hint("it without mpirun; train, resume and bench work together");
    CommandLine line(command, {args.begin() + 1, args.end()}, crew);
    try {
      return command.run(line);
    } catch (const CLI::CallForHelp&) {
      print(line.help());
      return Exit::ok;
    }
  }
  const string run = run_called(name);
  string meant = "heed --help lists the commands";
  if (is_text(name) || (name.ends_with(".json") && path_exists(name)))
    meant = "heed train " + shell_word(name);
  else if (is_run(run))
    meant = fmt::format("heed {} {}", make_objective(config_of_run(run))->use().command,
                        shell_word(name));
  const string typed = name.substr(0, name.rfind(".py"));
  const auto word = find_trade_word("command", typed);
  throw usage_error("unknown command \"{}\"{}", excerpt(name),
                    word ? heed_calls_it(*word) : did_you_mean(nearest(typed, names)))
      .hint(meant);
}

int run_heed(const vector<string>& args) {
  const auto command = [&](const Crew& crew) {
    const Exit exit = run_command(args, crew);
    flush_output();
    return exit;
  };
  try {
    return int(run_together(args, command, say_failure));
  } catch (const OutputClosed&) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);  // silent; shells see 141, as for any filter
    return 141;
  }
}

}  // namespace heed
