// heed neighbors RUN [WORD...]
#include "show/neighbors.h"

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "data/split.h"
#include "evaluate/test_text.h"

namespace heed {
namespace {

// How often training saw each id of a table; empty if the data cannot be read, which is said.
vector<int64_t> counts_in_training(OpenModel& m, Side side) try {
  const RunData read = run_data(m);
  if (!read.change.empty()) throw data_error("{}", read.change);
  const Embeddings& tables = m.net.embeddings;
  const bool two = tables.source && tables.target && m.config.model.tie != Tie::all;
  return counts_of(read.train, two ? optional(side) : nullopt);
} catch (const Error& e) {
  m.log.info(fmt::format("also tokens that training never saw are listed: {}", e.what()));
  return {};
}

void print_neighbors(const Json& found) {
  print(printable(plain(found["query"])) + "\n");
  for (const Json& w : found["words"])
    if (const auto tokens = w["tokens"].get<vector<string>>(); tokens.size() > 1)
      print_prose(printable(fmt::format("\"{}\" is written as {} pieces, whose mean is used: {}",
                                        plain(w["word"]), tokens.size(), joined(tokens, " "))) +
                  "\n");
  print_table(found["neighbors"], {{"", "cosine", "{:.3f}"}, {"", "token"}}, "  ");
}

}  // namespace

Exit run_neighbors(CommandLine& line) {
  size_t top_k = 10;
  line.add_model();
  line.add_texts("words, or an analogy: king - man + woman; on a terminal heed asks for them");
  line.add_number("--top-k", top_k, "how many neighbours, among tokens that the training text has",
                  1);
  line.add_side();
  line.parse();
  OpenModel m(line);
  EmbeddingView e = embedding_of(m, line.side());
  e.counts = counts_in_training(m, line.side());
  const auto answer = [&](const GivenText& given) -> Json {
    const string text = m.texts.normalized(line.side(), given.text, given.name);
    return {{"queries", neighbors(e, text, top_k)}};
  };
  const auto view = [](const Json& answers) {
    const Json& queries = answers["queries"];
    for (size_t i = 0; i < queries.size(); ++i) {
      if (i > 0) print("\n");
      print_neighbors(queries[i]);
    }
  };
  return answer_each(m, {"Type words, or an analogy: king - man + woman.", {"top-k"}}, "queries",
                     answer, view);
}

}  // namespace heed
