// The table of commands, and how one is chosen.
#include <string>

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/output.h"
#include "math/blas_info.h"

namespace heed {
namespace {

constexpr Command kCommands[] = {
    {"train", "train a model as a config says, into a new run folder", run_train},
    {"resume", "go on with a run, exactly", run_resume},
    {"evaluate", "measure loss, perplexity, accuracy and BLEU", run_evaluate},
    {"sample", "continue a text", run_sample},
    {"translate", "translate lines", run_translate},
    {"score", "give the log-probability of lines", run_score},
    {"fill", "list the most probable words for each [MASK]", run_fill},
    {"inspect", "list the tensors and how far training has moved them", run_inspect},
    {"tokenize", "show how lines are split into tokens", run_tokenize},
    {"gradcheck", "check every gradient against central differences", run_gradcheck},
    {"average", "average the weights of several checkpoints", run_average},
    {"bench", "measure how fast training is on this machine", run_bench_command},
    {"attend", "show where each head of each layer looks", run_attend},
    {"neighbors", "list the nearest tokens of words in the embedding", run_neighbors},
    {"report", "write one page with all that is known of a run", run_report},
    {"verify", "check that every byte of a run or a checkpoint is whole", run_verify},
    {"config", "print the effective config, its JSON Schema or its documentation", run_config},
};

std::string overview() {
  std::string out =
      "heed trains small transformers on your own text and shows what they learnt.\n\n"
      "usage: heed COMMAND [OPTIONS]\n\ncommands:\n";
  for (const Command& command : kCommands) {
    std::string name = command.name;
    name.resize(12, ' ');
    out += "  " + name + command.summary + "\n";
  }
  return out + "\nheed COMMAND --help explains a command; heed --version names this build.\n";
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

std::string version_text() {
  return std::string("heed ") + HEED_VERSION + "\n" +           //
         "build: " + HEED_BUILD + "\n" +                        //
         "compiler: " + HEED_COMPILER + " " __VERSION__ "\n" +  //
         "blas: " + blas_config() + "\n" +                      //
         "blas core type: " + blas_core_type() + " (" + blas_threading() + ")\n";
}

Exit run_command(const std::vector<std::string>& args) {
  const std::string name = args.empty() ? "--help" : args.front();
  if (name == "help" && args.size() > 1) return run_command({args[1], "--help"});
  if (name == "--help" || name == "-h" || name == "help") {
    print(overview());
    return Exit::ok;
  }
  if (name == "--version") {
    print(version_text());
    return Exit::ok;
  }
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    names.push_back(command.name);
    if (name != command.name) continue;
    CommandLine line(command, {args.begin() + 1, args.end()});
    return command.run(line);
  }
  const std::string near = nearest(name, names);
  throw Error(Exit::usage,
              "unknown command \"" + name + "\"" +
                  (near.empty() ? "." : "; did you mean \"" + near + "\"?"),
              "heed --help lists the commands");
}

}  // namespace heed
