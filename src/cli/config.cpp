// heed config CONFIG | --schema | --docs, and heed init [TEXT...]
#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "base/std_names.h"
#include "base/text_kind.h"
#include "cli/answers.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/corpus.h"
#include "data/run_config.h"
#include "train/suggested_config.h"

namespace heed {
Exit run_config(CommandLine& line) {
  string path;
  bool schema = false, docs = false;
  line.add_file("CONFIG", path, "config file (JSON), or the name of one that comes with heed");
  line.add_sets();
  line.app().add_flag("--schema", schema, "print the JSON Schema of configs");
  line.app().add_flag("--docs", docs, "print a markdown table of all keys");
  line.parse();
  line.only_where(!path.empty(), {"--set"}, "with CONFIG");

  if (schema + docs + !path.empty() != 1)
    throw usage_error("expected one of CONFIG, --schema and --docs.").hint("heed config --help");
  if (docs && line.json())
    throw usage_error("--docs is a table in markdown, not JSON.")
        .hint("heed config --schema: keys, types, ranges and texts as JSON");
  if (schema) print_data(config_schema());
  if (docs) print_data(config_docs());
  if (path.empty()) return Exit::ok;
  path = config_path(path);
  RunConfig config = load_config(path, line.given());
  // Its paths start from its own folder; what is printed may be kept in another one.
  const string folder = data_folder_of(path);
  DataConfig& d = config.data;
  std::error_code none;
  const bool here = fs::equivalent(folder, ".", none);
  const auto from_here = [&](string& file) {
    if (!here && !file.empty())
      file = fs::path(resolve_path(folder, file)).lexically_normal().string();
  };
  for (string* file : {&d.source, &d.target, &d.pairs, &d.valid_source, &d.valid_target,
                       &d.valid_pairs, &config.tokenizer.file, &config.tokenizer.target.file})
    from_here(*file);
  for (PathList* list : {&d.train, &d.valid}) std::ranges::for_each(list->paths, from_here);
  print_data(dump_config(config));
  return Exit::ok;
}

Exit run_init(CommandLine& line) {
  OwnText text;
  string output;
  line.app()
      .add_option("TEXT", text.files, "files or folders of text")
      ->type_name("PATH")
      ->default_str("");
  const CLI::Option* like = line.add_like(text.like);
  line.add_minutes(text.minutes);
  line.add_file("--output", output,
                "the config to write; - is standard output (default: TEXT.json)", "FILE");
  line.app().remove_option(line.app().get_option("--json"));  // a config has comments
  line.parse();

  const bool no_text = text.files.empty();
  if (no_text) text.files = {"mine.txt"};
  const string first = text.files[0];
  if (output.empty()) output = name_of_text(first) + ".json";
  if (output != "-" && !output.ends_with(".json"))
    throw usage_error("{}: expected a name that ends in .json, as configs do.", output);
  if (output != "-" && path_exists(output))
    throw usage_error("{} exists already.", output).hint("--output FILE");
  Log log({.quiet = line.quiet()});
  if (no_text) {
    text.name = first;
    text.facts = {.bytes = 1'000'000, .characters = 1'000'000, .distinct = 90, .common = 70};
  } else {
    read_own_text(text, false, log);
    text.pairs = text.files.size() == 1 && is_tsv(first) && like->count() == 0;
    if (text.pairs)
      for (const string& remark :
           read_tsv(text.files[0], {.any_bytes = text.facts.too_many_bad}).warnings)
        log.warn(remark);
    for (string& file : text.files) {  // relative to the config's folder
      if (!text.pairs) warn_of_markup(file, first_bytes(file), log);
      if (fs::path(file).is_relative())
        file = fs::proximate(file, output == "-" ? "." : folder_of(output)).string();
      check_writable(file);
    }
  }
  const Suggestion suggestion = suggest(text);
  if (!no_text) log.info("tokens: " + suggestion.tokens);
  write_output(output, suggested_config(text, suggestion));
  if (output != "-") {
    const string run = (fs::path("runs") / fs::path(output).stem()).string();
    log.info(fmt::format(
        "written: {0}; {1}its max_steps is a guess, because nothing was measured; to train it:",
        shell_word(output), no_text ? "change its data.train; " : ""));
    log.info(fmt::format("  heed train {}{}", shell_word(output),
                         path_exists(run) ? " --run " + shell_word(run + "-2") : ""));
  }
  return Exit::ok;
}

}  // namespace heed
