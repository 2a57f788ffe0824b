// heed tokenize RUN [TEXT]

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "text/piece_model.h"

namespace heed {

Exit run_tokenize(CommandLine& line) {
  bool ids = false;
  TextArguments given;
  line.add_model();
  line.add_texts(given, "one line; its words need no quotes");
  line.app().add_flag("--ids", ids, "numbers instead of pieces");
  line.add_side();
  line.parse();

  OpenModel m(line, 1);
  const Tokenizer& tokenizer =
      line.side() == Side::source ? m.tokenizers.source() : *m.tokenizers.target;
  const auto answer = [&](const GivenText& text) -> Json {
    const TokenizedText read = m.texts.tokenized(line.side(), text.text, text.name);
    Json bytes = Json::array();
    for (const Token& token : read.tokens) bytes.push_back({token.begin, token.end});
    return {{"text", read.text},
            {"ids", read.ids()},
            {"tokens", tokenizer.pieces(read.ids())},
            {"bytes", bytes}};
  };
  const auto view = [&](const Json& text) {
    vector<string> shown;
    for (const Json& token : text[ids ? "ids" : "tokens"])
      shown.push_back(with_space_marks(plain(token)));
    print(joined(shown, " ") + "\n");
  };
  return answer_each(m, {"Type a text to see its tokens."}, "tokens", answer, view);
}

}  // namespace heed
