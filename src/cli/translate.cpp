// heed translate RUN [TEXT]
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/open_model.h"
#include "cli/output.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "decode/text_stream.h"
#include "evaluate/translation.h"

namespace heed {
namespace {

constexpr std::size_t kTranslatedLines = 512;  // read, translated and written at a time

constexpr const char* kTranslateNotes =
    "Without TEXT, standard input; on a terminal heed asks for lines one by one.\n"
    "Prints one line for every line of the input, in order; an empty line for an empty one. With\n"
    "--n-best, lines \"number ||| translation ||| score\", numbered from 0. Hypotheses are ranked\n"
    "by log-probability / length^length-penalty; the length counts </s>. With --json, an object\n"
    "per line: line, source, translation, score, logprob, ids; with --n-best all are in n_best.";

nlohmann::ordered_json as_json(const Translation& t) {
  return {{"translation", to_valid_utf8(t.text)},
          {"score", t.score},
          {"logprob", t.log_probability},
          {"ids", t.ids}};
}

void print_json(std::size_t number, const std::string& source,
                const std::vector<Translation>& found, bool n_best) {
  nlohmann::ordered_json j{{"line", number}, {"source", to_valid_utf8(source)}};
  j.update(as_json(found.empty() ? Translation{} : found.front()));
  if (n_best) {
    j["n_best"] = nlohmann::ordered_json::array();
    for (const Translation& t : found) j["n_best"].push_back(as_json(t));
  }
  print_line(j);
}

void print_plain(std::size_t number, const std::vector<Translation>& found, bool n_best) {
  if (!n_best) {
    print((found.empty() ? std::string() : to_valid_utf8(found.front().text)) + "\n");
    return;
  }
  if (found.empty()) print(fmt::format("{} |||  ||| 0\n", number));
  for (const Translation& t : found)
    print(fmt::format("{} ||| {} ||| {:.6f}\n", number, to_valid_utf8(t.text), t.score));
}

}  // namespace

Exit run_translate(CommandLine& line) {
  TextArguments given;
  BeamOptions beam;
  CLI::App& app = line.app();
  line.add_model();
  line.add_texts(given, "one line to translate; its words need no quotes");
  app.add_option("--beam-size", beam.beam_size, "hypotheses kept at each step; 1: greedy")
      ->check(in_range(1, 1000));
  app.add_option("--length-penalty", beam.length_penalty,
                 "0: the most probable translation; larger favours longer ones")
      ->check(in_range(0.0, kMaxLengthPenalty));
  auto* n_best =
      app.add_option("--n-best", beam.n_best,
                     "translations to print for each line, if the search finds that many")
          ->check(in_range(1, 1000));
  app.add_option("--max-length", beam.max_length,
                 "most tokens of a translation; 0: 2 x source tokens + 20")
      ->check(in_range(0, 1'000'000));
  line.add_threads();
  app.footer(kTranslateNotes);
  if (!line.parse()) return Exit::ok;
  if (beam.n_best > beam.beam_size)
    throw Error(Exit::usage,
                fmt::format("--n-best {0} needs a --beam-size of at least {0}; found {1}.",
                            beam.n_best, beam.beam_size));

  OpenModel m(line);
  m.objective->check_use("translate", m.run);
  beam.stopped = interrupted;
  std::size_t number = 0;
  UserTexts texts(*m.objective, m.config, m.tokenizers, m.log);
  const auto answer = [&](std::span<const GivenText> read) {
    std::vector<std::string> lines;
    std::vector<TokenIds> sources;
    for (const GivenText& t : read) {
      lines.push_back(texts.normalized(Side::source, t.text, t.name));
      sources.push_back(texts.line(Side::source, lines.back()));
      texts.check_length(Side::source, m.objective->framed_source(sources.back()).size(), t.name);
    }
    const auto found = translate(m, m.pool, sources, beam);
    for (std::size_t i = 0; i < lines.size(); ++i, ++number)
      line.json() ? print_json(number, lines[i], found[i], n_best->count() > 0)
                  : print_plain(number, found[i], n_best->count() > 0);
    return texts.take_unknown();
  };
  return answer_texts(given,
                      {"translate", std::string(kTranslates.instructions) + " Ctrl-C stops it."},
                      {.most = kTranslatedLines}, m.config, m.log, answer);
}

}  // namespace heed
