// heed init [TEXT...]
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "cli/answers.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/corpus.h"
#include "train/text_start.h"

namespace heed {

namespace fs = std::filesystem;

Exit run_init(CommandLine& line) {
  TextRequest request;
  std::string output;
  line.app()
      .add_option("TEXT", request.texts, "files or folders of text")
      ->type_name("PATH")
      ->default_str("");
  const CLI::Option* like = line.add_like(request.like);
  line.add_minutes(request.minutes);
  line.add_file("--output", output,
                "the config to write; - is standard output (default: TEXT.json)", "FILE");
  line.app().remove_option(line.app().get_option("--json"));  // a config has comments
  line.parse();

  const bool no_text = request.texts.empty();
  if (output.empty()) output = name_of_text(no_text ? "mine.txt" : request.texts[0]) + ".json";
  if (output != "-" && !output.ends_with(".json"))
    throw Error(Exit::usage, output + ": expected a name that ends in .json, as configs do.");
  if (output != "-" && path_exists(output))
    throw Error(Exit::usage, output + " exists already.", "--output FILE");
  Log log({.quiet = line.quiet()});
  OwnText text;
  if (no_text) {
    text.name = "mine.txt";
    text.files = {text.name};
    text.facts.bytes = text.facts.characters = 1'000'000;
    text.facts.distinct = 90;
    text.facts.common = 70;
    text.like = request.like;
    text.minutes = request.minutes;
  } else {
    text = read_own_text(request, false, log);
    text.pairs = text.files.size() == 1 && is_tsv(request.texts[0]) && like->count() == 0;
    if (text.pairs)
      for (const std::string& remark :
           read_tsv(text.files[0], {.any_bytes = text.facts.too_many_bad}).warnings)
        log.warn(remark);
    for (std::string& file : text.files) {  // relative to the config's folder
      if (fs::path(file).is_relative())
        file = fs::proximate(file, output == "-" ? "." : folder_of(output)).string();
      check_writable(file);
    }
  }
  const Suggestion suggestion = suggest(text);
  if (!no_text) log.info("tokens: " + suggestion.tokens);
  write_output(output, suggested_config(text, suggestion));
  if (output != "-") {
    const std::string run = (fs::path("runs") / fs::path(output).stem()).string();
    log.info(fmt::format(
        "written: {0}; {1}its max_steps is a guess, because nothing was measured; to train it:",
        shell_word(output), no_text ? "change its data.train; " : ""));
    log.info(fmt::format("  heed train {}{}", shell_word(output),
                         path_exists(run) ? " --run " + shell_word(run + "-2") : ""));
  }
  return Exit::ok;
}

}  // namespace heed
