// The table of commands, and how one is chosen.
#include <string>

#include "base/nearest.h"
#include "base/trade_words.h"
#include "base/utf8.h"
#include "base/wrap.h"
#include "cli/command.h"
#include "cli/output.h"
#include "math/blas.h"

namespace heed {
namespace {

constexpr Command kCommands[] = {
    {"train", "train a model on a text, or from a config, in a new run folder", run_train, true},
    {"init", "write a commented config for a text", run_init},
    {"resume", "continue a run exactly where it stopped", run_resume, true},
    {"evaluate", "measure loss, perplexity, accuracy and BLEU", run_evaluate},
    {"sample", "continue a text", run_sample},
    {"translate", "translate lines", run_translate},
    {"score", "print the log-probability of lines", run_score},
    {"fill", "list the most probable words or spans for each [MASK]", run_fill},
    {"inspect", "list the tensors and how far training has moved them", run_inspect},
    {"tokenize", "show how lines are split into tokens", run_tokenize},
    {"gradcheck", "check every gradient against finite differences", run_gradcheck},
    {"average", "average the weights of several checkpoints", run_average},
    {"bench", "measure how fast training is on this machine", run_bench_command, true},
    {"attend", "show where each head of each layer looks", run_attend},
    {"ablate", "measure what each head, layer and kind of attention is worth", run_ablate},
    {"neighbors", "list the tokens nearest to words in the embedding", run_neighbors},
    {"report", "write one page about a run", run_report},
    {"runs", "list the runs in a folder and what they differ in", run_runs},
    {"verify", "check a run or a checkpoint for damage", run_verify},
    {"export", "write a model as other programs open it", run_export},
    {"config", "print the effective config, its JSON Schema or its documentation", run_config},
};

std::string overview() {
  std::string out =
      "heed trains small transformers on your own text and shows what they learnt.\n\n"
      "usage: heed COMMAND [OPTIONS]\n\ncommands:\n";
  for (const Command& command : kCommands)
    out += fmt::format("  {:12}{}\n", command.name, command.summary);
  out += "\nheed COMMAND --help explains a command; heed --version describes this build.\n";
  return wrapped(out, output_columns(), std::string(14, ' '));
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

Exit run_command(const std::vector<std::string>& args, Exchange& exchange) {
  const std::string name = args.empty() ? "--help" : args.front();
  if (name == "help" && args.size() > 1) return run_command({args[1], "--help"});
  if (name == "--help" || name == "-h" || name == "help") {
    print(overview());
    return Exit::ok;
  }
  if (name == "--version") {
    print("heed " HEED_VERSION "\nbuild: " HEED_BUILD "\ncompiler: " HEED_COMPILER " " __VERSION__
          "\n" +
          blas_info() + "MPI: " + mpi_info() + "\n");
    return Exit::ok;
  }
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    names.push_back(command.name);
    if (name != command.name) continue;
    if (exchange.ranks() > 1 && !command.on_ranks)
      throw Error(Exit::usage,
                  fmt::format("heed {} works alone, and a launcher started {} of it.", name,
                              exchange.ranks()),
                  "it without mpirun; train, resume and bench work together");
    CommandLine line(command, {args.begin() + 1, args.end()}, exchange);
    return command.run(line);
  }
  const std::string typed = name.substr(0, name.rfind(".py"));
  const auto word = find_trade_word("command", typed);
  throw Error(Exit::usage,
              fmt::format("unknown command \"{}\"{}", excerpt(name),
                          word ? heed_calls_it(*word) : did_you_mean(nearest(typed, names))),
              "heed --help lists the commands");
}

}  // namespace heed
