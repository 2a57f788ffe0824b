// heed tokenize RUN
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/output.h"
#include "store/run_folder.h"
#include "text/corpus.h"
#include "text/utf8.h"
#include "train/dataset.h"

namespace heed {

Exit run_tokenize(CommandLine& line) {
  std::string run, checkpoint;
  bool ids = false, json = false, source = false;
  line.add_run(run);
  line.add_checkpoint(checkpoint);
  line.app().add_flag("--ids", ids, "numbers instead of pieces");
  line.app().add_flag("--source", source,
                      "by the source's vocabulary, where source and target have their own");
  line.add_json(json);
  line.app().footer(
      "Reads lines from standard input and prints the tokens of each, separated by spaces; spaces\n"
      "in a token are shown as U+2581. With --json, an object per line: ids, tokens.");
  if (!line.parse()) return Exit::ok;

  const Checkpoint opened = Checkpoint::open(find_checkpoint(run, checkpoint));
  const RunConfig config =
      parse_config(opened.config(), (opened.folder() / "config.json").string());
  const Tokenizers tokenizers = Tokenizers::load(opened);
  const Tokenizer& tokenizer = source ? tokenizers.source() : *tokenizers.target;
  std::string text;
  for (std::size_t number = 1; std::getline(std::cin, text); ++number) {
    if (tokenizer.type() != TokenizerConfig::byte)
      check_utf8(text, "standard input, line " + std::to_string(number));
    if (config.data.lowercase) text = to_lower(text);
    const std::vector<int> encoded = tokenizer.encode(text);
    std::vector<std::string> tokens;
    for (const int id : encoded) {
      tokens.push_back(tokenizer.piece(id));
      if (json) continue;
      for (std::size_t at; (at = tokens.back().find(' ')) != std::string::npos;)
        tokens.back().replace(at, 1, "\xE2\x96\x81");
    }
    if (json) {
      print(nlohmann::ordered_json{{"ids", encoded}, {"tokens", tokens}}.dump() + "\n");
    } else {
      for (std::size_t i = 0; i < encoded.size(); ++i)
        print((i > 0 ? " " : "") + (ids ? std::to_string(encoded[i]) : tokens[i]));
      print("\n");
    }
    if (std::cin.rdbuf()->in_avail() <= 0) flush_output();  // somebody may be waiting
  }
  return Exit::ok;
}

}  // namespace heed
