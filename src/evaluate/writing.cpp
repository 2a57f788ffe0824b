#include "evaluate/writing.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/format.h"
#include "base/std_names.h"
#include "decode/incremental_decoder.h"
#include "decode/sampling.h"
#include "evaluate/scorer.h"
#include "nn/transformer.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace heed {
namespace {

// The search may spell a text with other tokens than the tokenizer does. Such a translation gets
// the ids and the probability that `heed score` gives its text: those of a search that may write
// nothing else.
void score_as_spelt(const Model& model, Pool& pool, const TokenIds& source, double length_penalty,
                    Translation& t) {
  const TokenIds ids = model.tokenizers.target->encode(t.text);
  if (ids == t.ids || ssize(ids) >= most_of_target(model.net, source)) return;
  const BeamOptions only{.beam_size = 1,
                         .length_penalty = length_penalty,
                         .max_length = int(ids.size()),
                         .rules = {.beginning = ids}};
  const bool ended = t.ended;
  static_cast<Hypothesis&>(t) =
      beam_search(model.predictor(), pool, {&source, 1}, only).front().front();
  t.ended = ended;
}

// Files mostly have composed characters, whatever form the model reads and writes.
string composed(string text, const Model& model) {
  const Normalize form = model.config.data.normalize;
  const bool parts = form == Normalize::nfd || form == Normalize::nfkd;
  return parts ? normalize(text, Normalize::nfc) : text;
}

// Best first, each text once.
void put_in_order(vector<Translation>& found, int n_best) {
  ranges::stable_sort(found, greater{}, &Translation::score);
  set<string> seen;
  erase_if(found, [&](const Translation& t) { return !seen.insert(t.text).second; });
  if (ssize(found) > n_best) found.resize(n_best);
}

// `left`: tokens of a target, after <s>; `special`: ids that are none of a text.
vector<vector<Hypothesis>> fill_spans(const Predictor& predictor, int left, int special,
                                      const TokenIds& source, const vector<int>& rows, int n) {
  BeamOptions options{.beam_size = kSpanBeam,
                      .length_penalty = 0,  // by the probability of the whole span
                      .n_best = min(n, kSpanBeam),
                      .rules = {.min_tokens = 1}};
  Pool pool(1);
  vector<vector<Hypothesis>> found;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int mask = source[rows[i]];
    options.prefix.push_back(mask);
    options.end = mask + 1;
    options.banned.clear();
    for (int id = 0; id < special; ++id)
      if (id != options.end) options.banned.push_back(id);
    // Each mask after this one needs room for its sentinel and a token.
    const int later = 2 * int(rows.size() - i - 1);
    options.max_length = --left - later;
    const auto spans = beam_search(predictor, pool, {&source, 1}, options);
    found.push_back(spans.front());
    const TokenIds& best = spans.front().front().ids;
    options.prefix.insert(options.prefix.end(), best.begin(), best.end());
    left -= int(best.size());
  }
  return found;
}

}  // namespace

int translation_limit(int64_t longest_target) {
  const int64_t longest = clamp<int64_t>(longest_target, 1, 800'000);
  return int(longest + (longest + 3) / 4);
}

string cut_in_words(int max_length, const Model& model) {
  const int most = most_positions(model.config.model);
  return fmt::format("did not end within {} (--max-length, or the model's positions)",
                     counted(to_string(min(max_length, most)), "token"));
}

vector<vector<Translation>> translate(const Model& model, Pool& pool,
                                      const vector<TokenIds>& sources, BeamOptions options) {
  const Tokenizer& target = *model.tokenizers.target;
  options.banned = model.objective->never_written(target);
  const int n_best = options.n_best;
  options.n_best = options.beam_size;  // the n best are chosen by their final scores, below
  vector<TokenIds> framed;
  for (const TokenIds& ids : sources)
    framed.push_back(ids.empty() ? ids : model.objective->framed_source(ids));
  vector<vector<Translation>> result(sources.size());
  const auto found = beam_search(model.predictor(), pool, framed, options);
  for (size_t i = 0; i < found.size(); ++i) {
    for (const Hypothesis& h : found[i]) {
      Translation& t = result[i].emplace_back(Translation{h, target.decode(h.ids)});
      // Rules that count tokens hold of those that were written.
      if (options.rules.no_repeat == 0 && options.rules.min_tokens == 0)
        score_as_spelt(model, pool, framed[i], options.length_penalty, t);
    }
    put_in_order(result[i], n_best);
    for (Translation& t : result[i]) t.text = composed(t.text, model);
  }
  return result;
}

TranslatedPairs translate_pairs(const Model& m, const Split& split, const Pairs& written,
                                BeamOptions beam, BleuOptions how, Pool& pool, Log& log) {
  how.form = m.config.data.normalize;
  vector<TokenIds> sources;
  for (size_t i = 0; i < split.sentences(); ++i)
    sources.push_back(split.sentence(Side::source, int64_t(i)));
  TranslatedPairs translated;
  beam.share_done = [&](double share) { log.share_done(share); };
  const auto found = translate(m, pool, sources, beam);
  log.end_progress();
  for (size_t i = 0; i < found.size(); ++i) {
    const size_t at = pair_on(written, split.lines[i]);
    vector<string> references{composed(string(written.target[at]), m)};
    for (const auto& lines : written.references)
      references.push_back(composed(string(lines[at]), m));
    const bool any = !found[i].empty();
    translated.texts.push_back(any ? found[i][0].text : "");
    translated.not_ended += any && !found[i][0].ended;
    translated.counts.push_back(translation_counts(translated.texts.back(), references, how));
  }
  return translated;
}

TokenIds generate(const Predictor& predictor, const Objective& objective, const Tokenizer& target,
                  TokenIds prompt, int max_tokens, double temperature, const TokenIds& not_next) {
  const SampleRequest request{.prompt = std::move(prompt),
                              .max_tokens = max_tokens,
                              .rules = {.temperature = temperature},
                              .writing = {.not_next = not_next},
                              .banned = objective.never_written(target)};
  TokenIds ids;
  if (max_tokens <= 0) return ids;
  Pool pool(1);
  draw_samples(
      predictor, objective, pool, request,
      [&](int, const TokenOdds& token) {
        ids.push_back(token.id);
        return true;
      },
      [](int) {});
  return ids;
}

vector<vector<Hypothesis>> fill(const Predictor& predictor, const Objective& objective,
                                const Tokenizer& target, const TokenIds& source, int n) {
  const vector<int> rows = objective.masks_in(source);
  if (predictor.model.has_decoder())
    return fill_spans(predictor, objective.longest(Side::target) - 1, target.first_ordinary_id(),
                      source, rows, n);
  const TokenIds never = objective.never_written(target);
  Example read{source, {}, TokenIds(source.size(), -1)};
  for (const int row : rows) read.labels[row] = 0;  // any token
  Pool pool(1);
  vector<vector<Hypothesis>> found;
  const auto odds = label_odds(predictor, {read}, pool, n + int(never.size())).front();
  for (const TokenOdds& mask : odds) {
    for (auto& best = found.emplace_back(); const ScoredToken& t : mask.best)
      if (ssize(best) < n && ranges::count(never, t.id) == 0)
        best.push_back({{t.id}, t.log_probability, t.log_probability});
  }
  return found;
}

}  // namespace heed
