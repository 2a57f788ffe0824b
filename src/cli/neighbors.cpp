// heed neighbors RUN [WORD...]
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "inspect/context_vectors.h"
#include "math/blas.h"
#include "text/utf8.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

struct NeighborsOptions {
  std::string run, checkpoint, context, export_to, side;
  std::vector<std::string> words;
  std::size_t top_k = 10;
  bool json = false;
};

Json json_of(const std::vector<Neighbor>& neighbors) {
  Json list = Json::array();
  for (const Neighbor& n : neighbors)
    list.push_back({{"token", n.token}, {"id", n.id}, {"cosine", n.cosine}});
  return list;
}

Json json_of(const EmbeddingView& e, const WordVector& w) {
  return {{"word", w.word}, {"ids", w.ids}, {"tokens", e.tokenizer.pieces(w.ids)}};
}

Json json_of(const EmbeddingView& e, const QueryResult& r) {
  Json words = Json::array();
  for (const WordVector& w : r.words) words.push_back(json_of(e, w));
  return {{"query", r.query.text}, {"words", words}, {"neighbors", json_of(r.neighbors)}};
}

Json json_of(const EmbeddingView& e, const ContextResult& r) {
  Json json = json_of(e, r.word);
  json["static"] = r.word.vector;
  json["occurrences"] = Json::array();
  for (const Occurrence& o : r.occurrences) {
    Json layers = Json::array();
    for (const ContextLayer& layer : o.layers)
      layers.push_back({{"cosine_to_static", layer.cosine_to_static},
                        {"vector", layer.vector},
                        {"neighbors", json_of(layer.neighbors)}});
    json["occurrences"].push_back({{"begin", o.begin}, {"end", o.end}, {"layers", layers}});
  }
  return json;
}

// A note on a word of several tokens.
std::string split_note(const EmbeddingView& e, const WordVector& w) {
  if (w.ids.size() < 2) return "";
  return fmt::format(
      "\"{}\" is not one token: it is written as {} pieces ({}); their mean is used\n", w.word,
      w.ids.size(), joined(e.tokenizer.pieces(w.ids), " "));
}

std::string table(const EmbeddingView& e, const QueryResult& r) {
  std::string text = r.query.text + "\n";
  for (const WordVector& w : r.words) text += split_note(e, w);
  for (const Neighbor& n : r.neighbors) text += fmt::format("  {:.3f}  {}\n", n.cosine, n.token);
  return text;
}

std::string table(const EmbeddingView& e, const ContextResult& r, const std::string& context) {
  std::string text = split_note(e, r.word);
  for (const Occurrence& o : r.occurrences) {
    text += fmt::format("{}[{}]{}\n  layer  cosine to static  nearest rows of the embedding\n",
                        context.substr(0, o.begin), context.substr(o.begin, o.end - o.begin),
                        context.substr(o.end));
    for (std::size_t layer = 0; layer < o.layers.size(); ++layer) {
      text += fmt::format("  {:<7}{:<18.3f}", layer, o.layers[layer].cosine_to_static);
      for (const Neighbor& n : o.layers[layer].neighbors) text += n.token + " ";
      text.back() = '\n';
    }
  }
  return text;
}

void answer_words(const NeighborsOptions& r, const TrainedModel& t, const EmbeddingView& e,
                  const std::vector<std::string>& words) {
  const std::vector<Query> queries = parse_queries(words);
  Json json{{"queries", Json::array()}};
  std::string text;
  for (const Query& query : queries) {
    const QueryResult result = ask(e, query, r.top_k);
    json["queries"].push_back(json_of(e, result));
    text += (text.empty() ? "" : "\n") + table(e, result);
    if (r.context.empty()) continue;
    if (query.terms.size() > 1) throw Error(Exit::usage, "--context takes words, not analogies.");
    const ContextResult inside = ask_in_context(t, query.terms.front().word, r.context, r.top_k);
    json["queries"].back()["context"] = json_of(e, inside);
    text += table(e, inside, r.context);
  }
  r.json ? print_line(json) : print(text);
}

}  // namespace

Exit run_neighbors(CommandLine& line) {
  NeighborsOptions r;
  line.add_model(r.run, r.checkpoint);
  CLI::App& app = line.app();
  app.add_option("WORD", r.words,
                 "words, or an analogy: king - man + woman; on a terminal heed asks for them");
  app.add_option("--top-k", r.top_k, "how many neighbours")->check(in_range(1, 100000));
  app.add_option("--context", r.context,
                 "a text with the words: also show their vectors after each layer");
  app.add_option("--side", r.side,
                 "which table, if source and target have their own "
                 "(default: source with --context, else target)")
      ->check(CLI::IsMember({"source", "target"}));
  line.add_file("--export", r.export_to, "write all vectors as word2vec text; - is standard output",
                "FILE.vec");
  line.add_json(r.json);
  if (!line.parse()) return Exit::ok;
  const bool prompts = answers_texts(std::nullopt, !r.words.empty() || !r.export_to.empty());
  if (r.words.empty() && r.export_to.empty() && !prompts)
    throw Error(Exit::usage, "expected a word, or --export.", "heed neighbors --help");
  if (r.words.empty() && !r.context.empty() && !prompts)
    throw Error(Exit::usage, "--context needs a word that occurs in it.");
  prepare_blas();
  const TrainedModel trained = load_trained_model(r.run, r.checkpoint);
  const bool source = r.side.empty() ? !r.context.empty() : r.side == "source";
  if (source && !r.side.empty() && !trained.model.has_encoder())
    throw Error(Exit::usage, "--side source: this model has no encoder.");
  if (!source && !r.context.empty() && trained.model.has_encoder())
    throw Error(Exit::usage, "--side target: the encoder reads --context.");
  const EmbeddingView e = embedding_of(trained, source ? Side::source : Side::target);
  if (prompts) {
    Log log({.quiet = line.quiet()});
    return answer_texts(std::nullopt,
                        {"neighbors", "Type words, or an analogy: king - man + woman."}, log,
                        [&](const std::string& text) {
                          const std::vector<std::string_view> words = split_words(text);
                          if (!words.empty())
                            answer_words(r, trained, e, {words.begin(), words.end()});
                        });
  }
  if (!r.words.empty()) answer_words(r, trained, e, r.words);
  if (!r.export_to.empty()) write_output(r.export_to, word2vec_text(e));
  return Exit::ok;
}

}  // namespace heed
