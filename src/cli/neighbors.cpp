// heed neighbors RUN [WORD...]
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "cli/command.h"
#include "cli/open_model.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "show/neighbors.h"
#include "text/utf8.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

std::string neighbors_table(const Json& found) {
  std::string text = found["query"].get<std::string>() + "\n";
  for (const Json& w : found["words"])
    if (const auto tokens = w["tokens"].get<std::vector<std::string>>(); tokens.size() > 1)
      text += fmt::format(
          "\"{}\" is not one token: it is written as {} pieces ({}); their mean is used\n",
          w["word"].get<std::string>(), tokens.size(), joined(tokens, " "));
  for (const Json& n : found["neighbors"])
    text += fmt::format("  {:.3f}  {}\n", n["cosine"].get<double>(), n["token"].get<std::string>());
  return text;
}

void answer_words(const EmbeddingView& e, const std::vector<std::string>& words, std::size_t k,
                  bool json) {
  Json all = Json::array();
  std::string text;
  for (const Query& query : parse_queries(words)) {
    all.push_back(neighbors(e, query, k));
    text += (text.empty() ? "" : "\n") + neighbors_table(all.back());
  }
  json ? print_line({{"queries", all}}) : print(text);
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
  return prompt_for_texts({.command = "neighbors",
                           .instructions = "Type words, or an analogy: king - man + woman.",
                           .line = &line,
                           .settings = {"top-k"}},
                          trained.log, [&](const std::string& text) {
                            const std::vector<std::string_view> typed = split_words(text);
                            if (!typed.empty())
                              answer_words(e, {typed.begin(), typed.end()}, top_k, line.json());
                          });
}

}  // namespace heed
