// heed translate RUN [TEXT]

#include "base/format.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "decode/text_stream.h"
#include "evaluate/translation.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr std::size_t kTranslatedLines = 512;  // read, translated and written at a time

struct TranslateOptions {
  TextArguments texts;
  BeamOptions beam;
  std::string prefix;
  bool json = false, n_best = false;
};

Json translation_json(const Translation& t) {
  return {{"translation", to_valid_utf8(t.text)},
          {"score", t.score},
          {"logprob", t.log_probability},
          {"ids", t.ids},
          {"ended", t.ended}};
}

// Of a line without a translation: an empty one.
Json line_json(std::size_t number, const std::string& source, const std::vector<Translation>& found,
               const TranslateOptions& o) {
  Json j{{"line", number}, {"source", to_valid_utf8(source)}};
  j.update(translation_json(found.empty() ? Translation{} : found.front()));
  if (found.empty()) j.erase("ended");
  if (o.n_best) j["n_best"] = Json::array();
  for (std::size_t i = 0; o.n_best && i < found.size(); ++i)
    j["n_best"].push_back(translation_json(found[i]));
  return j;
}

void print_plain(const Json& line) {
  const Json all = line.value("n_best", Json());
  for (const Json& t : all.empty() ? Json::array({line}) : all) {
    std::string row = t.contains("error") ? "" : t["translation"];
    if (!all.is_null())
      row = fmt::format("{} ||| {} ||| {}", line["line"].dump(), row, fixed<6>(t["score"]));
    print_data(row + "\n");
  }
}

class LineTranslator {
 public:
  LineTranslator(const TranslateOptions& options, OpenModel& model, UserTexts& texts)
      : o_(options), m_(model), texts_(texts) {}

  // Prints the translations.
  void answer(std::span<const GivenText> read, Refusals& refusals) {
    BeamOptions beam = o_.beam;  // as set by now
    if (beam.max_length == 0) beam.max_length = translation_limit(m_.state.longest_target);
    if (o_.prefix.find('\n') != std::string::npos)
      throw Error(Exit::usage, "--prefix has several lines; this model translates one line.");
    const TokenizedText prefix = texts_.inspected(Side::target, o_.prefix, "--prefix", false);
    const std::string unknown = m_.tokenizers.target->unknown(prefix.text).summary();
    if (!unknown.empty())
      throw Error(Exit::data, "--prefix has " + unknown + ", which the model cannot write.");
    TokenIds& beginning = beam.rules.beginning;
    beginning = prefix.ids();
    beam.rules.not_next = prefix.not_next;
    const int least = static_cast<int>(beginning.size());
    if (o_.beam.max_length > 0 && o_.beam.max_length < least)
      throw Error(Exit::usage, fmt::format("--prefix has {} tokens, more than --max-length {}.",
                                           least, o_.beam.max_length));
    beam.max_length = std::max(beam.max_length, least);
    const auto [lines, sources, refused] = sources_of(read, beginning.size(), refusals);
    const auto found = translate(m_, m_.pool, sources, beam);
    std::vector<std::string> cut;
    std::vector<TokenIds> cut_sources;
    const bool typed = !o_.texts.given() && !read.front().is_line;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      Json line = line_json(number_++, lines[i], found[i], o_);
      if (!refused[i].empty()) line["translation"] = nullptr, line["error"] = refused[i];
      o_.json ? print_line(line) : print_plain(line);
      if (found[i].empty() || found[i].front().ended) continue;
      cut.push_back(read[i].name);
      cut_sources.push_back(sources[i]);
    }
    if (!cut.empty())
      m_.log.warn(fmt::format(
          "the translation did not end within {}: {}",
          replace_all(limit_in_words(beam.max_length, m_, cut_sources), "--", typed ? ":" : "--"),
          some_of(cut)));
  }

 private:
  struct Sources {
    std::vector<std::string> lines;
    std::vector<TokenIds> ids;  // none for a blank line and for a refused one
    std::vector<std::string> refused;
  };

  Sources sources_of(std::span<const GivenText> read, std::size_t prefix, Refusals& refusals) {
    const std::size_t threads = std::min<std::size_t>(read.size(), m_.pool.threads()),
                      joined = m_.objective->traits().joined ? prefix : 0;
    std::vector<std::string> lines(read.size());
    std::vector<TokenIds> sources(read.size());
    std::vector<std::string> far_longer, spaced, refused;
    for (std::size_t i = 0; i < read.size(); ++i) {
      refused.push_back(refusals.refusal_of(read[i], [&] {
        lines[i] = texts_.normalized(Side::source, read[i].text, read[i].name);
        if (is_blank(lines[i])) return;
        TokenIds ids = texts_.line(Side::source, lines[i], read[i].name);
        (void)m_.objective->fit(Side::source, m_.objective->framed_source(ids).size() + joined,
                                read[i].name + (joined > 0 ? " with --prefix" : ""), threads);
        const std::string_view text = stripped(lines[i]);
        if (text != lines[i] && ids != m_.tokenizers.source().encode(text))
          spaced.push_back(read[i].name);
        sources[i] = std::move(ids);
      }));
      if (std::ssize(sources[i]) > 2 * m_.state.longest_source)
        far_longer.push_back(fmt::format("{} ({})", read[i].name, sources[i].size()));
    }
    if (!far_longer.empty())
      m_.log.warn(fmt::format(
          "the model was trained on at most {} of a line: much may be left out "
          "of what is far longer: {}",
          counted(std::to_string(m_.state.longest_source), "token"), some_of(far_longer)));
    if (!spaced.empty())
      m_.log.info(
          "the white space at an end of a line is read too, and may change its translation: " +
          some_of(spaced));
    return {std::move(lines), std::move(sources), std::move(refused)};
  }

  const TranslateOptions& o_;
  OpenModel& m_;
  UserTexts& texts_;
  std::size_t number_ = 0;  // lines so far
};

}  // namespace

Exit run_translate(CommandLine& line) {
  TranslateOptions o;
  CLI::App& app = line.app();
  line.add_model();
  line.add_with();
  line.add_texts(o.texts, "one line to translate; its words need no quotes");
  line.add_beam(o.beam);
  auto* n_best =
      app.add_option("--n-best", o.beam.n_best,
                     "translations to print for each line, if the search finds that many")
          ->check(in_range(1, 1000));
  app.add_option("--prefix", o.prefix, "what every translation begins with")->type_name("TEXT");
  line.only_where({"--length-penalty"}, "with a --beam-size above 1, or for scores", [&](auto*) {
    return o.beam.beam_size > 1 || n_best->count() > 0 || line.json();
  });
  if (!line.parse()) return Exit::ok;
  if (o.beam.n_best > o.beam.beam_size)
    throw Error(Exit::usage,
                fmt::format("--n-best {0} needs a --beam-size of at least {0}; found {1}.",
                            o.beam.n_best, o.beam.beam_size));

  OpenModel m(line);
  m.objective->check_use("translate", m.run);
  o.n_best = n_best->count() > 0;
  o.json = line.json();
  UserTexts as_read(*m.objective, m.config, m.tokenizers, m.log);
  LineTranslator translator(o, m, as_read);
  return answer_texts(line,
                      {.instructions = std::string(kTranslates.instructions),
                       .settings = {"beam-size", "length-penalty", "max-length", "no-repeat",
                                    "min-tokens", "prefix"}},
                      {.most = kTranslatedLines}, as_read,
                      [&](std::span<const GivenText> texts, Refusals& refusals) {
                        translator.answer(texts, refusals);
                      });
}

}  // namespace heed
