// heed neighbors RUN [WORD...]
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "cli/table.h"
#include "show/neighbors.h"
#include "text/utf8.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

void print_neighbors(const Json& found) {
  print(printable(found["query"].get<std::string>()) + "\n");
  for (const Json& w : found["words"])
    if (const auto tokens = w["tokens"].get<std::vector<std::string>>(); tokens.size() > 1)
      print_prose(
          printable(fmt::format(
              "\"{}\" is not one token: it is written as {} pieces ({}); their mean is used",
              w["word"].get<std::string>(), tokens.size(), joined(tokens, " "))) +
          "\n");
  const Column columns[] = {{"", "cosine", fixed<3>}, {"", "token"}};
  print_table(found["neighbors"], columns, "  ");
}

void answer_words(const EmbeddingView& e, const std::vector<std::string>& words, std::size_t k,
                  bool json) {
  Json all = Json::array();
  for (const Query& query : parse_queries(words)) all.push_back(neighbors(e, query, k));
  if (json) return print_line({{"queries", all}});
  for (const Json& found : all) {
    if (&found != &all.front()) print("\n");
    print_neighbors(found);
  }
}

}  // namespace

Exit run_neighbors(CommandLine& line) {
  std::string side = "target";
  std::vector<std::string> words;
  std::size_t top_k = 10;
  line.add_model();
  CLI::App& app = line.app();
  app.add_option("WORD", words,
                 "words, or an analogy: king - man + woman; on a terminal heed asks for them");
  app.add_option("--top-k", top_k, "how many neighbours")->check(in_range(1, 100000));
  line.add_side(side);
  if (!line.parse()) return Exit::ok;
  if (words.empty() && !can_prompt())
    throw Error(Exit::usage, "expected a word.", "heed neighbors " + line.run() + " king");
  OpenModel trained(line);
  if (side == "source" && !trained.model.has_encoder())
    throw Error(Exit::usage, "--side source: this model has no encoder.");
  const EmbeddingView e = embedding_of(trained, side == "source" ? Side::source : Side::target);
  if (!words.empty()) {
    answer_words(e, words, top_k, line.json());
    return Exit::ok;
  }
  return prompt_for_texts(
      line,
      {.instructions = "Type words, or an analogy: king - man + woman.", .settings = {"top-k"}},
      trained.log, [&](const std::string& text) {
        const std::vector<std::string_view> typed = split_words(text);
        if (!typed.empty()) answer_words(e, {typed.begin(), typed.end()}, top_k, line.json());
      });
}

}  // namespace heed
