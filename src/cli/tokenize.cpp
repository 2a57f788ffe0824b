// heed tokenize RUN [TEXT]
#include <array>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "store/open_checkpoint.h"
#include "store/trained_model.h"
#include "text/piece_model.h"

namespace heed {

Exit run_tokenize(CommandLine& line) {
  std::string side = "target";
  bool ids = false;
  TextArguments given;
  line.add_model();
  line.add_texts(given, "one line; its words need no quotes");
  line.app().add_flag("--ids", ids, "numbers instead of pieces");
  line.add_side(side);
  line.app().footer(
      "Reads TEXT or --file, else the lines of standard input; on a terminal heed asks for them. "
      "Prints the tokens of each, separated by spaces. A space in a token is shown as U+2581. For "
      "masked models [MASK] is one token. With --json, an object per line: text (as the model "
      "reads it), ids, tokens, bytes ([begin, end) of each token in that text).");
  if (!line.parse()) return Exit::ok;

  Log log({.quiet = line.quiet()});
  // A run has one tokenizer, from its beginning.
  const bool initial = line.checkpoint() == "initial";
  const Checkpoint opened = open_checkpoint(line.run(), initial ? "" : line.checkpoint());
  const RunConfig config = checkpoint_config(opened);
  const Tokenizers tokenizers = Tokenizers::load(opened.tokenizers(), opened.folder());
  const Tokenizer& tokenizer = side == "source" ? tokenizers.source() : *tokenizers.target;
  const auto objective = make_objective(config);
  UserTexts texts(*objective, config, tokenizers, log);
  const auto answer = [&](std::span<const GivenText> given_texts) {
    for (const GivenText& t : given_texts) {
      const TokenizedText read =
          texts.tokenized(side == "source" ? Side::source : Side::target, t.text, t.name);
      const TokenIds encoded = read.ids();
      std::vector<std::string> shown = tokenizer.pieces(encoded);
      if (line.json()) {
        std::vector<std::array<std::size_t, 2>> bytes;
        for (const Token& token : read.tokens) bytes.push_back({token.begin, token.end});
        print_line({{"text", read.text}, {"ids", encoded}, {"tokens", shown}, {"bytes", bytes}});
        continue;
      }
      for (std::size_t i = 0; i < shown.size(); ++i)
        shown[i] = ids ? std::to_string(encoded[i]) : with_space_marks(shown[i]);
      print(joined(shown, " ") + "\n");
    }
    return texts.take_unknown();
  };
  return answer_texts(given, {"tokenize", "Type a text to see its tokens."}, {.most = 512}, config,
                      log, answer);
}

}  // namespace heed
