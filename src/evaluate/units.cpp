#include "evaluate/units.h"

#include "evaluate/scorer.h"
#include "evaluate/translation.h"

namespace heed {

SpeltText spelt(const Ids& ids, const Tokenizer& tokenizer) {
  SpeltText spelt;
  int previous = -1;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    spelt.begins.push_back(spelt.text.size());
    spelt.text += ids[i] == Tokenizer::kUnk ? "\uFFFD" : tokenizer.text_after(previous, ids[i]);
    if (!tokenizer.is_special(ids[i])) previous = ids[i];
  }
  spelt.ends = unit_ends(spelt.text);
  return spelt;
}

std::vector<std::size_t> unit_ends(std::string_view text) {
  constexpr std::size_t kLeast = 256;
  const std::size_t longest = std::min<std::size_t>(4096, text.size() / kFewestUnits);
  std::vector<std::size_t> ends;
  std::size_t begin = 0;
  for (std::size_t line = 0, end = 0; line < text.size(); line = end) {
    end = std::min(text.find('\n', line), text.size() - 1) + 1;
    while (end - line > longest && end - begin >= 2 * kLeast) {
      for (begin += kLeast; begin < end && (text[begin] & 0xC0) == 0x80;) ++begin;
      ends.push_back(begin);
    }
    if (end - begin >= kLeast) ends.push_back(begin = end);
  }
  if (ends.empty()) ends.push_back(0);
  ends.back() = text.size();
  return ends;
}

System unit_sums(const Model& m, const Objective& objective, const Split& split,
                 const SpeltText& text, Pool& pool) {
  constexpr std::int64_t kAtOnce = 1024;
  const ObjectiveTraits& traits = objective.traits();
  const ObjectiveConfig& c = m.config.objective;
  const auto tile = static_cast<std::size_t>(objective.fills() ? c.source_length : c.target_length);
  const auto unit = [&](std::size_t example, std::size_t label) {
    if (split.pairs()) return example;
    const bool spans = objective.fills() && traits.decoder();
    return text.unit_of(example * tile + (spans ? 0 : label - traits.before_source));
  };
  System rows(split.pairs() ? split.sentences() : text.ends.size(), Sums(kTranslation));
  for (std::size_t i = 0, begin = 0; i < text.ends.size(); begin = text.ends[i++])
    rows[i][kBytes] = static_cast<double>(text.ends[i] - begin);
  const ExampleList list = objective.evaluation(split);
  for (std::int64_t begin = 0; begin < list.count; begin += kAtOnce) {
    std::vector<Example> examples(std::min(kAtOnce, list.count - begin));
    for (std::size_t i = 0; i < examples.size(); ++i) list.get(begin + i, examples[i]);
    const auto odds = label_odds(m.predictor(), examples, pool, 0);
    for (std::size_t i = 0; i < examples.size(); ++i) {
      auto token = odds[i].begin();
      for (std::size_t j = 0; j < examples[i].labels.size(); ++j) {
        if (examples[i].labels[j] < 0) continue;
        Sums& row = rows[unit(begin + i, j)];
        row[kNats] -= token->log_probability;
        ++row[kTokens];
        row[kJudged] += token->id != Tokenizer::kEos;
        row[kRight] += token->id != Tokenizer::kEos && token->rank == 1;
        ++token;
      }
    }
  }
  return rows;
}

std::size_t pair_on(const Pairs& pairs, std::size_t line) {
  return std::ranges::lower_bound(pairs.lines, line) - pairs.lines.begin();
}

TranslatedPairs translate_pairs(const Model& m, const Split& split, const Pairs& written,
                                const BeamOptions& beam, const BleuOptions& how, Pool& pool) {
  std::vector<TokenIds> sources;
  for (std::size_t i = 0; i < split.sentences(); ++i)
    sources.push_back(split.sentence(Side::source, static_cast<std::int64_t>(i)));
  TranslatedPairs translated;
  const auto found = translate(m, pool, sources, beam);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t at = pair_on(written, split.lines[i]);
    std::vector<std::string> references{std::string(written.target[at])};
    for (const auto& lines : written.references) references.emplace_back(lines[at]);
    const bool any = !found[i].empty();
    if (any && !found[i][0].ended) translated.not_ended.push_back(sources[i]);
    translated.counts.push_back(translation_counts(any ? found[i][0].text : "", references, how));
  }
  return translated;
}

}  // namespace heed
