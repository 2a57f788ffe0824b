// heed tokenize RUN [TEXT]
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/line_reader.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "data/data_files.h"
#include "data/user_text.h"
#include "store/open_checkpoint.h"
#include "store/trained_model.h"
#include "text/piece_model.h"

namespace heed {

Exit run_tokenize(CommandLine& line) {
  std::string run, checkpoint;
  bool ids = false, json = false, source = false;
  std::optional<std::string> given;
  line.add_model(run, checkpoint);
  line.add_text(given, "one line; its words need no quotes");
  line.app().add_flag("--ids", ids, "numbers instead of pieces");
  line.app().add_flag("--source", source,
                      "use the source vocabulary, if source and target have their own");
  line.add_json(json);
  line.app().footer(
      "Reads TEXT, else the lines of standard input; on a terminal heed asks for them. Prints the\n"
      "tokens of each, separated by spaces. A space in a token is shown as U+2581. For masked\n"
      "models [MASK] is one token. With --json, an object per line: ids, tokens.");
  if (!line.parse()) return Exit::ok;

  Log log({.quiet = line.quiet()});
  const Checkpoint opened = open_checkpoint(run, checkpoint);
  const RunConfig config = checkpoint_config(opened);
  const Tokenizers tokenizers = Tokenizers::load(opened.tokenizers(), opened.folder());
  const Tokenizer& tokenizer = source ? tokenizers.source() : *tokenizers.target;
  Unknown unknown;
  const auto answer = [&](const std::string& read) {
    const std::string text = normalized(read, config, tokenizer);
    const TokenIds encoded = tokenizer.encode_with_specials(text);
    unknown += unknown_beside_specials(text, tokenizer);
    std::vector<std::string> shown = tokenizer.pieces(encoded);
    if (json) return print_line({{"ids", encoded}, {"tokens", shown}});
    for (std::size_t i = 0; i < shown.size(); ++i)
      shown[i] = ids ? std::to_string(encoded[i]) : with_space_marks(shown[i]);
    print(joined(shown, " ") + "\n");
  };
  const auto answer_one = [&](const std::string& text) {
    answer(text);
    tell_unknown(unknown, "read", log);
  };
  if (answers_texts(given))
    return answer_texts(given, {"tokenize", "Type a text to see its tokens."}, log, answer_one);
  LineReader reader("-", {.any_bytes = read_options(config).any_bytes});
  for (std::vector<std::string> lines; !(lines = reader.read(512)).empty();) {
    for (const std::string& text : lines) answer(text);
    flush_output();
  }
  tell_unknown(unknown, "read", log);
  return Exit::ok;
}

}  // namespace heed
