// heed tokenize RUN [TEXT]

#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "store/checkpoint.h"
#include "store/trained_model.h"
#include "text/piece_model.h"

namespace heed {
namespace {

void print_tokens_of(const Json& text, bool ids) {
  std::vector<std::string> shown;
  for (const Json& token : text[ids ? "ids" : "tokens"])
    shown.push_back(with_space_marks(plain(token)));
  print(joined(shown, " ") + "\n");
}

}  // namespace

Exit run_tokenize(CommandLine& line) {
  std::string side = "target";
  bool ids = false;
  TextArguments given;
  line.add_model();
  line.add_texts(given, "one line; its words need no quotes");
  line.app().add_flag("--ids", ids, "numbers instead of pieces");
  line.add_side(side);
  if (!line.parse()) return Exit::ok;

  Log log({.quiet = line.quiet()});
  // A run has one tokenizer, from its beginning.
  const bool initial = line.checkpoint() == "initial";
  const Checkpoint opened = open_checkpoint(line.run(), initial ? "" : line.checkpoint());
  const RunConfig config = checkpoint_config(opened);
  line.check_effects(&config);
  const Tokenizers tokenizers = Tokenizers::load(opened.tokenizers(), opened.folder());
  const Tokenizer& tokenizer = side == "source" ? tokenizers.source() : *tokenizers.target;
  const auto objective = make_objective(config);
  UserTexts texts(*objective, config, tokenizers, log);
  const auto answer = [&](std::span<const GivenText> given_texts, Refusals& refusals) {
    for (const GivenText& t : given_texts)
      refusals.answer(t, "tokens", line.json(), [&] {
        const TokenizedText read =
            texts.tokenized(side == "source" ? Side::source : Side::target, t.text, t.name);
        Json bytes = Json::array();
        for (const Token& token : read.tokens) bytes.push_back({token.begin, token.end});
        const Json result{{"text", read.text},
                          {"ids", read.ids()},
                          {"tokens", tokenizer.pieces(read.ids())},
                          {"bytes", bytes}};
        line.json() ? print_line(result) : print_tokens_of(result, ids);
      });
  };
  return answer_texts(line, {"Type a text to see its tokens."}, {.most = 512}, texts, answer);
}

}  // namespace heed
