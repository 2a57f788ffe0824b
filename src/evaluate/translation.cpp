#include "evaluate/translation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <span>
#include <vector>

#include "base/format.h"
#include "decode/best_tokens.h"
#include "decode/incremental_decoder.h"
#include "nn/transformer.h"
#include "text/tokenizer.h"

namespace heed {
namespace {

constexpr int kMostTargets = 64;  // at a time
// log p(targets[i] </s> | sources[i]). Sources have </s>; targets have no <s> or </s>.
std::vector<double> target_log_probs(const Predictor& predictor, Pool& pool,
                                     std::span<const std::vector<int>> sources,
                                     std::span<const std::vector<int>> targets) {
  assert(sources.size() == targets.size());
  std::vector<double> result(targets.size(), 0.0);
  std::size_t longest = 0;
  for (const auto& t : targets) longest = std::max(longest, t.size() + 1);
  const auto group = static_cast<std::size_t>(
      slots_at_a_time(predictor, static_cast<int>(longest), sources, kMostTargets));
  for (std::size_t begin = 0; begin < targets.size(); begin += group) {
    const std::size_t n = std::min(group, targets.size() - begin);
    IncrementalDecoder decoder(predictor, pool, static_cast<int>(n), static_cast<int>(longest));
    decoder.read_sources(sources.subspan(begin, n));
    for (int i = 0; i < static_cast<int>(n); ++i) decoder.restart(i, i);
    for (std::size_t position = 0;; ++position) {
      std::vector<IncrementalDecoder::Tokens> tokens;
      for (std::size_t i = 0; i < n; ++i) {
        const std::vector<int>& target = targets[begin + i];
        if (position > target.size()) continue;
        const int& read = position == 0 ? Tokenizer::kBos : target[position - 1];
        tokens.push_back({static_cast<int>(i), {&read, 1}});
      }
      if (tokens.empty()) break;
      const Mat<float> logits = decoder.step(tokens);
      for (int r = 0; r < logits.rows; ++r) {
        const std::size_t i = begin + tokens[r].slot;
        const int label = position < targets[i].size() ? targets[i][position] : Tokenizer::kEos;
        const std::span<const float> row(logits.row(r), static_cast<std::size_t>(logits.cols));
        result[i] += scored_token(row, label).log_probability;
      }
    }
  }
  return result;
}

// The search may spell a text with other tokens than the tokenizer does. Such a translation gets
// the ids and the probability that `heed score` gives its text.
void score_as_spelt(const Model& model, Pool& pool, const std::vector<TokenIds>& sources,
                    double length_penalty, std::vector<std::vector<Translation>>& result) {
  std::vector<TokenIds> read, written;
  std::vector<Translation*> changed;
  for (std::size_t i = 0; i < result.size(); ++i)
    for (Translation& t : result[i]) {
      TokenIds ids = model.tokenizers.target->encode(t.text);
      if (ids == t.ids) continue;
      if (std::ssize(ids) >= most_of_target(model.net, sources[i])) continue;
      read.push_back(sources[i]);
      written.push_back(ids);
      t.ids = std::move(ids);
      changed.push_back(&t);
    }
  const auto log_probs = target_log_probs(model.predictor(), pool, read, written);
  for (std::size_t i = 0; i < changed.size(); ++i) {
    Translation& t = *changed[i];
    t.log_probability = log_probs[i];
    t.score = beam_score(t.log_probability, t.ids.size() + 1, length_penalty);
  }
}

// Best first, each text once.
void put_in_order(std::vector<Translation>& found, int n_best) {
  std::ranges::stable_sort(found, std::greater{}, &Translation::score);
  std::vector<Translation> kept;
  for (Translation& t : found)
    if (std::ranges::find(kept, t.text, &Translation::text) == kept.end())
      kept.push_back(std::move(t));
  if (kept.size() > static_cast<std::size_t>(n_best)) kept.resize(n_best);
  found = std::move(kept);
}

}  // namespace

int translation_limit(std::int64_t longest_target) {
  const std::int64_t longest = std::min<std::int64_t>(longest_target, kMaxTranslation);
  return static_cast<int>(
      std::clamp<std::int64_t>(longest + (longest + 3) / 4, 1, kMaxTranslation));
}

std::string limit_in_words(int max_length, const Model& model,
                           const std::vector<TokenIds>& sources) {
  int most = most_positions(model.config.model);
  for (const TokenIds& ids : sources)
    most = std::min(most, most_of_target(model.net, model.objective->framed_source(ids)));
  return fmt::format("{} ({})", counted(std::to_string(std::min(max_length, most)), "token"),
                     max_length < most ? "--max-length" : "the model has no more positions");
}

std::vector<std::vector<Translation>> translate(const Model& model, Pool& pool,
                                                const std::vector<TokenIds>& sources,
                                                BeamOptions options) {
  const Tokenizer& target = *model.tokenizers.target;
  options.banned = model.objective->never_written(target);
  const int n_best = options.n_best;
  options.n_best = options.beam_size;  // the n best are chosen by their final scores, below
  std::vector<TokenIds> framed;
  for (const TokenIds& ids : sources)
    framed.push_back(ids.empty() ? ids : model.objective->framed_source(ids));
  std::vector<std::vector<Translation>> result(sources.size());
  const auto found = beam_search(model.predictor(), pool, framed, options);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const Hypothesis& h : found[i]) result[i].push_back({h, target.decode(h.ids)});
  // Rules that count tokens hold of those that were written.
  if (options.rules.no_repeat == 0 && options.rules.min_tokens == 0)
    score_as_spelt(model, pool, framed, options.length_penalty, result);
  for (std::vector<Translation>& translations : result) put_in_order(translations, n_best);
  return result;
}

}  // namespace heed
