// heed translate RUN [TEXT]
#include <nlohmann/json.hpp>

#include "base/cgroup.h"
#include "base/format.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/open_model.h"
#include "cli/output.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "decode/text_stream.h"
#include "evaluate/translation.h"
#include "show/alignment.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr std::size_t kTranslatedLines = 512;  // read, translated and written at a time

constexpr const char* kTranslateNotes =
    "Without TEXT, standard input; on a terminal heed asks for lines one by one. Prints one line "
    "for every line of the input, in order; an empty line for a blank one, and for one that is too "
    "long to be read (exit code 3 at the end). A translation that does not end within --max-length "
    "is cut there, and named on standard error. With --n-best, lines \"number ||| translation ||| "
    "score\", numbered from 0. Hypotheses are ranked by log-probability / length^length-penalty; "
    "the length counts </s>. With --json, an object per line: line, source, translation, score, "
    "logprob, ids, ended; with --n-best all are in n_best. --alignment adds \" ||| 0-0 1-2\" (in "
    "JSON, alignment): source token - target token, from 0, as heed tokenize counts them, for each "
    "target token: where the row that writes it looks most, as a mean over the heads of LAYER "
    "(default: the last but one), or in one head.";

struct Shown {  // of each translation
  bool n_best, alignment;
};

nlohmann::ordered_json as_json(const Translation& t, const Shown& shown) {
  nlohmann::ordered_json j{{"translation", to_valid_utf8(t.text)},
                           {"score", t.score},
                           {"logprob", t.log_probability},
                           {"ids", t.ids},
                           {"ended", t.ended}};
  if (shown.alignment) j["alignment"] = t.alignment;
  return j;
}

void print_json(std::size_t number, const std::string& source,
                const std::vector<Translation>& found, const Shown& shown) {
  nlohmann::ordered_json j{{"line", number}, {"source", to_valid_utf8(source)}};
  j.update(as_json(found.empty() ? Translation{} : found.front(), shown));
  if (found.empty()) j.erase("ended");
  if (shown.n_best) {
    j["n_best"] = nlohmann::ordered_json::array();
    for (const Translation& t : found) j["n_best"].push_back(as_json(t, shown));
  }
  print_line(j);
}

void print_plain(std::size_t number, const std::vector<Translation>& found, const Shown& shown) {
  const auto row = [&](const Translation& t) {
    return to_valid_utf8(t.text) + (shown.n_best ? fmt::format(" ||| {:.6f}", t.score) : "") +
           (shown.alignment ? " ||| " + t.alignment : "") + "\n";
  };
  if (!shown.n_best) return print(row(found.empty() ? Translation{} : found.front()));
  if (found.empty()) print(fmt::format("{} ||| {}", number, row({})));
  for (const Translation& t : found) print(fmt::format("{} ||| {}", number, row(t)));
}

// Error (data) if the model cannot read so long a source, one on each of so many threads.
void check_source(const OpenModel& m, std::size_t tokens, std::size_t threads,
                  const std::string& name) {
  m.objective->fit(Side::source, tokens, name);
  const double n = static_cast<double>(tokens);
  // Every head has a weight for each pair of tokens.
  const double needed = 4.0 * m.config.model.n_heads * n * n * static_cast<double>(threads);
  const double available = available_memory();
  if (needed > available)
    throw Error(Exit::data,
                fmt::format("{} has {} tokens; attention over them takes {} of memory, and {} are "
                            "available.",
                            name, tokens, format_bytes(needed), format_bytes(available)),
                "a shorter line");
}

// "line 3, line 7 and 12 others"
std::string first_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  const std::size_t n = std::min(names.size(), kShown);
  const std::string shown = joined({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(n)});
  return n == names.size() ? shown : fmt::format("{} and {} others", shown, names.size() - n);
}

}  // namespace

Exit run_translate(CommandLine& line) {
  TextArguments given;
  BeamOptions beam;
  CLI::App& app = line.app();
  line.add_model();
  line.add_texts(given, "one line to translate; its words need no quotes");
  line.add_beam(beam);
  auto* n_best =
      app.add_option("--n-best", beam.n_best,
                     "translations to print for each line, if the search finds that many")
          ->check(in_range(1, 1000));
  std::string aligned;
  auto* align = line.add_optional("--alignment", aligned,
                                  "also print which source token each target token comes from",
                                  "LAYER|LAYER.HEAD");
  app.footer(kTranslateNotes);
  if (!line.parse()) return Exit::ok;
  if (beam.n_best > beam.beam_size)
    throw Error(Exit::usage,
                fmt::format("--n-best {0} needs a --beam-size of at least {0}; found {1}.",
                            beam.n_best, beam.beam_size));

  OpenModel m(line);
  m.objective->check_use("translate", m.run);
  const HeadChoice heads = alignment_heads(aligned, m.config.model);
  const Shown shown{n_best->count() > 0, align->count() > 0};
  beam.stopped = interrupted;
  std::size_t number = 0;
  bool too_long = false;
  UserTexts texts(*m.objective, m.config, m.tokenizers, m.log);
  const auto answer = [&](std::span<const GivenText> read) {
    if (beam.max_length == 0) beam.max_length = translation_limit(m.state.longest_target);
    std::vector<std::string> lines, far_longer, cut;
    std::vector<TokenIds> sources;
    for (const GivenText& t : read) {
      lines.push_back(texts.normalized(Side::source, t.text, t.name));
      TokenIds& ids = sources.emplace_back();
      if (is_blank(lines.back())) continue;
      ids = texts.line(Side::source, lines.back());
      try {
        check_source(m, m.objective->framed_source(ids).size(),
                     std::min<std::size_t>(read.size(), m.pool.threads()), t.name);
      } catch (const Error& e) {
        if (!t.is_line) throw;
        print_error(e.what());
        too_long = true;
        ids.clear();
      }
      if (std::ssize(ids) > 2 * m.state.longest_source)
        far_longer.push_back(fmt::format("{} ({})", t.name, ids.size()));
    }
    if (!far_longer.empty())
      m.log.warn(fmt::format(
          "the model was trained on at most {} of a line: much may be left out "
          "of what is far longer: {}",
          counted(std::to_string(m.state.longest_source), "token"), first_names(far_longer)));
    auto found = translate(m, m.pool, sources, beam);
    if (shown.alignment)
      m.pool.run(static_cast<int>(found.size()), [&](int i, int) {
        for (Translation& t : found[i]) t.alignment = alignment(m, heads, sources[i], t.ids);
      });
    for (std::size_t i = 0; i < lines.size(); ++i, ++number) {
      line.json() ? print_json(number, lines[i], found[i], shown)
                  : print_plain(number, found[i], shown);
      if (!found[i].empty() && !found[i].front().ended) cut.push_back(read[i].name);
    }
    if (!cut.empty())
      m.log.warn(fmt::format("the translation did not end within {}: {}",
                             limit_in_words(beam.max_length, m.config.model), first_names(cut)));
    return texts.take_unknown();
  };
  const Exit exit =
      answer_texts(given,
                   {.command = "translate",
                    .instructions = std::string(kTranslates.instructions) + " Ctrl-C stops it.",
                    .line = &line,
                    .settings = {"beam-size", "length-penalty", "max-length"}},
                   {.most = kTranslatedLines}, m.config, m.log, answer);
  return exit == Exit::ok && too_long ? Exit::data : exit;
}

}  // namespace heed
