// heed neighbors RUN [WORD...]
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/texts.h"
#include "data/split.h"
#include "evaluate/test_text.h"
#include "show/neighbors.h"
#include "text/utf8.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

// How often training saw each id of a table; empty if the data cannot be read, which is said.
std::vector<std::int64_t> counts_in_training(OpenModel& m, Side side) try {
  const RunData read = run_data(m);
  if (!read.change.empty()) throw Error(Exit::data, read.change);
  const Embeddings& tables = m.model.embeddings;
  const bool two = tables.source && tables.target && m.config.model.tie != Tie::all;
  return counts_of(read.train, two ? std::optional(side) : std::nullopt);
} catch (const Error& e) {
  m.log.info(fmt::format("also tokens that training never saw are listed: {}", e.what()));
  return {};
}

void print_neighbors(const EmbeddingView& e, const Json& found) {
  print(printable(found["query"].get<std::string>()) + "\n");
  for (const Json& w : found["words"])
    if (const auto tokens = w["tokens"].get<std::vector<std::string>>(); tokens.size() > 1) {
      const std::string word = w["word"], other = other_case(e, word);
      print_prose(
          printable(fmt::format(
              "\"{}\" is not one token: it is written as {} pieces ({}); their mean is used{}",
              word, tokens.size(), joined(tokens, " "), other.empty() ? "" : "; " + other)) +
          "\n");
    }
  const Column columns[] = {{"", "cosine", fixed<3>}, {"", "token"}};
  print_table(found["neighbors"], columns, "  ");
}

void answer_words(const EmbeddingView& e, const std::string& text, std::size_t k, bool json) {
  Json all = Json::array();
  for (const Query& query : parse_queries(text)) all.push_back(neighbors(e, query, k));
  if (json) return print_line({{"queries", all}});
  for (const Json& found : all) {
    if (&found != &all.front()) print("\n");
    print_neighbors(e, found);
  }
}

}  // namespace

Exit run_neighbors(CommandLine& line) {
  std::string side = "target";
  TextArguments texts;
  std::size_t top_k = 10;
  line.add_model();
  CLI::App& app = line.app();
  line.add_texts(texts,
                 "words, or an analogy: king - man + woman; on a terminal heed asks for them");
  app.add_option("--top-k", top_k, "how many neighbours, among tokens that the training text has")
      ->check(in_range(1, 100000));
  line.add_side(side);
  if (!line.parse()) return Exit::ok;
  OpenModel trained(line);
  const Side of = side == "source" ? Side::source : Side::target;
  EmbeddingView e = embedding_of(trained, of);
  e.counts = counts_in_training(trained, of);
  if (!texts.given() && can_prompt()) e.run.clear();  // a command is no hint there
  UserTexts as_read(*trained.objective, trained.config, trained.tokenizers, trained.log);
  return answer_texts(
      line,
      {.instructions = "Type words, or an analogy: king - man + woman.", .settings = {"top-k"}}, {},
      as_read, [&](std::span<const GivenText> read, Refusals& refusals) {
        refusals.answer(read.front(), "queries", line.json(),
                        [&] { answer_words(e, read.front().text, top_k, line.json()); });
      });
}

}  // namespace heed
