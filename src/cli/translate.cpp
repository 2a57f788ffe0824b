// heed translate RUN [TEXT]

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "data/corpus.h"
#include "evaluate/writing.h"
#include "text/utf8.h"

namespace heed {
namespace {

Json translation_json(const Translation& t) {
  return {{"translation", to_valid_utf8(t.text)},
          {"score", t.score},
          {"logprob", t.log_probability},
          {"ids", t.ids},
          {"ended", t.ended}};
}

// Of a line without a translation: an empty one. `all`: with the n best.
Json line_json(size_t number, const string& source, const vector<Translation>& found,
               const string& refused, bool all) {
  Json j{{"line", number}, {"source", to_valid_utf8(source)}};
  j.update(translation_json(found.empty() ? Translation{} : found.front()));
  if (found.empty()) j.erase("ended");
  if (all) j["n_best"] = Json::array();
  for (size_t i = 0; all && i < found.size(); ++i)
    j["n_best"].push_back(translation_json(found[i]));
  if (!refused.empty()) j["translation"] = nullptr, j["error"] = refused;
  return j;
}

void print_plain(const Json& line) {
  const Json all = line.value("n_best", Json());
  for (const Json& t : all.empty() ? Json::array({line}) : all) {
    string row = t.contains("error") ? "" : t["translation"];
    if (!all.is_null())
      row = fmt::format("{} ||| {} ||| {}", line["line"].dump(), row, fixed<6>(t["score"]));
    print_data(row + "\n");
  }
}

// Completes the options by what every translation begins with.
void set_prefix(OpenModel& m, const string& text, BeamOptions& beam) {
  const TokenizedText prefix = m.texts.inspected(Side::target, text, "--prefix", false);
  const string unknown = m.tokenizers.target->unknown(prefix.text).summary();
  if (!unknown.empty()) throw data_error("--prefix has {}, which the model cannot write.", unknown);
  beam.rules.beginning = prefix.ids();
  beam.rules.not_next = prefix.not_next;
  const int least = int(prefix.tokens.size());
  if (beam.max_length > 0 && beam.max_length < least)
    throw usage_error("--prefix has {} tokens, more than --max-length {}.", least, beam.max_length);
  if (beam.max_length == 0) beam.max_length = max(least, translation_limit(m.state.longest_target));
}

struct Sources {
  vector<string> lines;
  vector<TokenIds> ids;  // none for a blank line and for a refused one
  vector<string> refused;
};

// `prefix`: tokens that a decoder alone reads beside a source.
Sources read_sources(OpenModel& m, span<const GivenText> texts, size_t prefix) {
  const size_t at_once = min<size_t>(texts.size(), m.pool.threads());
  Sources all{vector<string>(texts.size()), vector<TokenIds>(texts.size()), {}};
  const Columns table(m.config.data.columns);
  vector<string> spaced;
  for (size_t i = 0; i < texts.size(); ++i) {
    const string& name = texts[i].name;
    all.refused.push_back(m.refusal_of(texts[i], [&] {
      std::deque<string> joined;
      const auto cells = table.of(texts[i].text, joined);
      const bool row = texts[i].is_line && texts[i].text.find('\t') != string::npos;
      if (row && !cells) table.refuse(texts[i].text, name);
      const string source = row ? string((*cells)[0]) : texts[i].text;
      all.lines[i] = m.texts.normalized(Side::source, source, name);
      if (is_blank(all.lines[i])) return;
      TokenIds ids = m.texts.line(Side::source, all.lines[i], name);
      m.texts.check_length(Side::source, m.objective->framed_source(ids).size() + prefix,
                           name + (prefix > 0 ? " with --prefix" : ""), at_once);
      const string_view text = stripped(all.lines[i]);
      if (text != all.lines[i] && ids != m.tokenizers.source().encode(text)) spaced.push_back(name);
      all.ids[i] = std::move(ids);
    }));
  }
  if (!spaced.empty()) m.log.info(spaced_in_words(spaced));
  return all;
}

}  // namespace

Exit run_translate(CommandLine& line) {
  BeamOptions options;
  string prefix;
  line.add_model();
  line.add_with();
  line.add_texts("one line to translate; its words need no quotes");
  line.add_beam(options);
  line.add_number("--n-best", options.n_best,
                  "translations to print for each line, if the search finds that many", 1, 1000);
  line.app.add_option("--prefix", prefix, "what every translation begins with");
  line.parse();
  const bool n_best = line.app.count("--n-best") > 0;
  line.only_where(options.beam_size > 1 || n_best || line.json, {"--length-penalty"},
                  "with a --beam-size above 1, or for scores");
  if (options.n_best > options.beam_size)
    throw usage_error("--n-best {0} needs a --beam-size of at least {0}; found {1}.",
                      options.n_best, options.beam_size);

  OpenModel m(line);
  m.objective->check_use("translate", m.run);
  size_t number = 0;
  int limit = 0;
  vector<string> cut;
  const auto say_cut = [&] {
    if (const auto places = exchange(cut, {}); !places.empty())
      m.log.warn(fmt::format("{} of {}: the translation {}: {}", places.size(), number,
                             cut_in_words(limit, m), some_of(places)));
  };
  const auto answer = [&](span<const GivenText> texts) {
    BeamOptions beam = options;  // as set by now
    set_prefix(m, prefix, beam);
    const size_t joined = m.objective->traits().joined ? beam.rules.beginning.size() : 0;
    const auto [lines, sources, refused] = read_sources(m, texts, joined);
    const auto found = translate(m, m.pool, sources, beam);
    for (size_t i = 0; i < lines.size(); ++i) {
      const Json json = line_json(number++, lines[i], found[i], refused[i], n_best);
      line.json ? print_line(json) : print_plain(json);
      if (!found[i].empty() && !found[i].front().ended) cut.push_back(texts[i].name);
    }
    limit = beam.max_length;
    if (prompts(line)) say_cut();
  };
  const Exit exit = answer_texts(
      m,
      {kTranslates.instructions,
       {"beam-size", "length-penalty", "max-length", "no-repeat", "min-tokens", "prefix"}},
      answer);
  say_cut();
  return exit;
}

}  // namespace heed
