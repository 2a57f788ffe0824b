#include "evaluate/translation.h"

#include <algorithm>

#include "base/error.h"
#include "decode/forced.h"
#include "evaluate/bleu.h"

namespace heed {

std::vector<int> banned_in_targets(const Tokenizer& tokenizer) {
  std::vector<int> banned{Tokenizer::kUnk, Tokenizer::kBos};
  for (int id = tokenizer.first_ordinary_id(); id < tokenizer.size(); ++id)
    if (tokenizer.text_after(-1, id).find_first_of("\n\r") != std::string::npos)
      banned.push_back(id);
  return banned;
}

namespace {

// The search may spell a text with other tokens than its tokenizer does. Such a translation gets
// the ids and the probability that `heed score` gives to its text.
void score_as_spelt(const Transformer& model, const ParamVec<float>& values,
                    const Tokenizer& tokenizer, Pool& pool,
                    const std::vector<std::vector<int>>& sources, double length_penalty,
                    std::vector<std::vector<Translation>>& result) {
  const bool limited = model.config.positions == Positions::learned;
  std::vector<std::vector<int>> read, written;
  std::vector<Translation*> changed;
  for (std::size_t i = 0; i < result.size(); ++i)
    for (Translation& t : result[i]) {
      std::vector<int> ids = tokenizer.encode(t.text);
      if (ids == t.ids) continue;
      if (limited && ids.size() >= static_cast<std::size_t>(model.config.max_length)) continue;
      read.push_back(sources[i]);
      written.push_back(ids);
      t.ids = std::move(ids);
      changed.push_back(&t);
    }
  const auto log_probs = target_log_probs(model, values, pool, read, written);
  for (std::size_t i = 0; i < changed.size(); ++i) {
    Translation& t = *changed[i];
    t.log_probability = log_probs[i];
    t.score = beam_score(t.log_probability, t.ids.size() + 1, length_penalty);
  }
}

// Best first, each text once.
void put_in_order(std::vector<Translation>& found, int n_best) {
  std::stable_sort(found.begin(), found.end(),
                   [](const Translation& a, const Translation& b) { return a.score > b.score; });
  std::vector<Translation> kept;
  for (Translation& t : found)
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const Translation& k) { return k.text == t.text; }))
      kept.push_back(std::move(t));
  if (kept.size() > static_cast<std::size_t>(n_best)) kept.resize(n_best);
  found = std::move(kept);
}

}  // namespace

std::vector<std::vector<Translation>> translate(const Transformer& model,
                                                const ParamVec<float>& values,
                                                const Tokenizers& tokenizers, Pool& pool,
                                                const std::vector<std::string>& lines,
                                                BeamOptions options, std::size_t first_line) {
  options.banned = banned_in_targets(*tokenizers.target);
  const int n_best = options.n_best;
  options.n_best = options.beam_size;  // which of them are the best is known once they are spelt
  std::vector<std::vector<int>> sources;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    sources.push_back(tokenizers.source().encode(lines[i]));
    if (sources.back().empty()) continue;
    sources.back().push_back(Tokenizer::kEos);
    if (model.config.positions == Positions::learned &&
        sources.back().size() > static_cast<std::size_t>(model.config.max_length))
      throw Error(Exit::data, "line " + std::to_string(first_line + i) + " has " +
                                  std::to_string(sources.back().size()) +
                                  " tokens with </s>; this model has positions for " +
                                  std::to_string(model.config.max_length) + ".");
  }
  std::vector<std::vector<Translation>> result(lines.size());
  const auto found = beam_search(model, values, pool, sources, options);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const Hypothesis& h : found[i])
      result[i].push_back({tokenizers.target->decode(h.ids), h.ids, h.log_probability, h.score});
  score_as_spelt(model, values, *tokenizers.target, pool, sources, options.length_penalty, result);
  for (std::vector<Translation>& translations : result) put_in_order(translations, n_best);
  return result;
}

double validation_bleu(const Transformer& model, const ParamVec<float>& values, const Split& split,
                       const Tokenizers& tokenizers, Pool& pool) {
  std::vector<std::vector<int>> sources;
  std::vector<std::string> references;
  for (std::size_t i = 0; i < split.sentences(); ++i) {
    sources.emplace_back();
    split.source.copy(split.source_begin[i], split.source_begin[i + 1], sources.back());
    sources.back().push_back(Tokenizer::kEos);
    std::vector<int> target;
    split.target.copy(split.target_begin[i], split.target_begin[i + 1], target);
    references.push_back(tokenizers.target->decode(target, true));
  }
  BeamOptions options;
  options.beam_size = 1;
  options.banned = banned_in_targets(*tokenizers.target);
  std::vector<std::string> hypotheses;
  for (const auto& found : beam_search(model, values, pool, sources, options))
    hypotheses.push_back(found.empty() ? "" : tokenizers.target->decode(found.front().ids));
  return corpus_bleu(hypotheses, references, {.tokens = BleuTokens::none}).score;
}

TextPairs validation_pairs(const RunConfig& c, const std::string& folder) {
  const bool own = c.data.has_valid_files();
  const Pairs all = own ? read_valid_pairs(c, folder) : read_training_pairs(c, folder);
  const std::size_t first = own ? 0 : split_pairs(all.size(), c.data.valid_fraction);
  TextPairs pairs;
  for (std::size_t i = first; i < all.size(); ++i) {
    pairs.source.emplace_back(all.source[i]);
    pairs.target.emplace_back(all.target[i]);
  }
  return pairs;
}

}  // namespace heed
