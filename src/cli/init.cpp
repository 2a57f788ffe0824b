// heed init [TEXT...]
#include <filesystem>

#include "base/folders.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "train/text_messages.h"
#include "train/text_start.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInitNotes =
    "The config is the one that heed train TEXT would make, with comments, but nothing is\n"
    "measured: train.max_steps is a guess of what fits into --minutes. Without TEXT it names\n"
    "mine.txt. A .tsv file (source, tab, target) gets a model that translates.";

// As a config in `folder` names it.
std::string as_written(const std::string& path, const fs::path& folder) {
  const std::string written =
      fs::path(path).is_absolute() ? path : fs::proximate(path, folder).string();
  check_writable(written);
  return written;
}

}  // namespace

Exit run_init(CommandLine& line) {
  std::vector<std::string> texts;
  std::string output;
  OwnText text;
  line.app()
      .add_option("TEXT", texts, "files or folders of text")
      ->type_name("PATH")
      ->default_str("");
  const CLI::Option* like = line.add_like(text.like);
  line.add_minutes(text.minutes);
  line.add_file("--output", output,
                "the config to write; - is standard output (default: TEXT.json)", "FILE");
  line.app().footer(kInitNotes);
  if (!line.parse()) return Exit::ok;

  const std::string shown = texts.empty() ? "mine.txt" : texts.front();
  if (output.empty()) output = name_of_text(shown) + ".json";
  if (output != "-" && !output.ends_with(".json"))
    throw Error(Exit::usage, output + ": expected a name that ends in .json, as configs do.");
  if (output != "-" && path_exists(output))
    throw Error(Exit::usage, output + " exists already.", "--output FILE");
  Log log({.quiet = line.quiet()});
  FoundTexts found{{shown}, {}};
  if (texts.empty()) {
    text.files = {shown};
    text.facts = {.bytes = 1'000'000, .characters = 1'000'000, .distinct = 90, .common = 70};
  } else {
    found = find_texts(texts, false);
    for (const std::string& file : found.files)
      text.files.push_back(as_written(file, output == "-" ? "." : folder_of(output)));
    text.facts = text_facts(found.files);
    text.pairs = text.files.size() == 1 && shown.ends_with(".tsv") && like->count() == 0;
  }
  const Suggestion suggestion = suggest(text);
  if (!texts.empty() && !text.pairs) {
    say_text(log, found, text.facts);
    say_tokens(log, suggestion.tokenizer, text.facts);
  }
  write_output(output, suggested_config(text, suggestion, names_of(found.files)));
  if (output != "-")
    log.info(fmt::format(
        "written: {0}; {1}its max_steps is a guess, for nothing was measured; to "
        "train it: heed train {0}",
        shell_word(output), texts.empty() ? "its data.train is for you to change, " : ""));
  return Exit::ok;
}

}  // namespace heed
