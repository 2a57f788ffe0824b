#include "show/fill.h"

#include <algorithm>

#include "base/std_names.h"
#include "decode/sampling.h"
#include "evaluate/scorer.h"

namespace heed {
namespace {

// `left`: tokens of a target, after <s>; `special`: ids that are none of a text.
vector<vector<Hypothesis>> fill_spans(const Predictor& predictor, int left, int special,
                                      const TokenIds& source, const vector<int>& rows, int n) {
  BeamOptions options;
  options.beam_size = kSpanBeam;
  options.n_best = min(n, kSpanBeam);
  options.rules.min_tokens = 1;
  options.length_penalty = 0;  // by the probability of the whole span
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

TokenIds generate(const Predictor& predictor, const Objective& objective, const Tokenizer& target,
                  TokenIds prompt, int max_tokens, double temperature, const TokenIds& not_next) {
  SampleRequest request;
  request.prompt = std::move(prompt);
  request.max_tokens = max_tokens;
  request.rules.temperature = temperature;
  request.banned = objective.never_written(target);
  request.writing.not_next = not_next;
  TokenIds ids;
  if (max_tokens <= 0) return ids;
  Pool pool(1);
  draw_samples(
      predictor, objective, pool, request,
      [&](int, const TokenOdds& token) {
        if (token.id != Tokenizer::kEos) ids.push_back(token.id);
        return token.id != Tokenizer::kEos;
      },
      [](int) {});
  return ids;
}

vector<vector<Hypothesis>> fill(const Predictor& predictor, const Objective& objective,
                                const Tokenizer& target, const TokenIds& source,
                                const vector<int>& rows, int n) {
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
    vector<Hypothesis>& best = found.emplace_back();
    for (const ScoredToken& t : mask.best)
      if (std::ssize(best) < n && std::ranges::count(never, t.id) == 0)
        best.push_back({{t.id}, t.log_probability, t.log_probability});
  }
  return found;
}

}  // namespace heed
