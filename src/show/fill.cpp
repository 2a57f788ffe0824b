#include "show/fill.h"

#include <algorithm>
#include <numeric>

#include "decode/next_token.h"
#include "decode/sampling.h"

namespace heed {
namespace {

std::vector<std::vector<Hypothesis>> fill_tokens(const Predictor& p, const TokenIds& never,
                                                 const TokenIds& source,
                                                 const std::vector<int>& rows, int n) {
  Batch batch;
  batch.add(source, {});
  Workspace workspace;
  TransformerSaved<float> saved;
  Pass<float> pass = p.pass(workspace);
  const Mat<float> hidden = p.model.forward(pass, batch, saved);
  const Mat<float> logits = p.model.output.forward(pass, hidden);
  std::vector<int> all(logits.rows);
  std::iota(all.begin(), all.end(), 0);
  if (const auto average = p.averaging(workspace, batch)) average(all, logits);
  require_finite(logits);
  std::vector<std::vector<Hypothesis>> found;
  for (const int row : rows) {
    found.emplace_back();
    const std::span<const float> of_row(logits.row(row), static_cast<std::size_t>(logits.cols));
    for (const ScoredToken& t : best_tokens(of_row, n, never))
      found.back().push_back({{t.id}, t.log_probability, t.log_probability});
  }
  return found;
}

// `left`: tokens of a target, after <s>; `special`: ids that are none of a text.
std::vector<std::vector<Hypothesis>> fill_spans(const Predictor& predictor, int left, int special,
                                                const TokenIds& source,
                                                const std::vector<int>& rows, int n) {
  BeamOptions options;
  options.beam_size = kSpanBeam;
  options.n_best = std::min(n, kSpanBeam);
  options.rules.min_tokens = 1;
  options.length_penalty = 0;  // by the probability of the whole span
  Pool pool(1);
  std::vector<std::vector<Hypothesis>> found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int mask = source[rows[i]];
    options.prefix.push_back(mask);
    options.end = mask + 1;
    options.banned.clear();
    for (int id = 0; id < special; ++id)
      if (id != options.end) options.banned.push_back(id);
    // Each mask after this one needs room for its sentinel and a token.
    const int later = 2 * static_cast<int>(rows.size() - i - 1);
    options.max_length = --left - later;
    const auto spans = beam_search(predictor, pool, {&source, 1}, options);
    found.push_back(spans.front());
    const TokenIds& best = spans.front().front().ids;
    options.prefix.insert(options.prefix.end(), best.begin(), best.end());
    left -= static_cast<int>(best.size());
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

std::vector<std::vector<Hypothesis>> fill(const Predictor& predictor, const Objective& objective,
                                          const Tokenizer& target, const TokenIds& source,
                                          const std::vector<int>& rows, int n) {
  if (predictor.model.has_decoder())
    return fill_spans(predictor, objective.longest(Side::target) - 1, target.first_ordinary_id(),
                      source, rows, n);
  return fill_tokens(predictor, objective.never_written(target), source, rows, n);
}

}  // namespace heed
