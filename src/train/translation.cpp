#include "train/translation.h"

#include "base/error.h"
#include "text/bleu.h"
#include "text/corpus.h"

namespace heed {

std::vector<int> banned_in_targets() {
  return {Tokenizer::kUnk, Tokenizer::kBos};
}

std::vector<std::vector<Translation>> translate(const Transformer& model,
                                                const ParamVec<float>& values,
                                                const Tokenizers& tokenizers, Pool& pool,
                                                const std::vector<std::string>& lines,
                                                BeamOptions options, std::size_t first_line) {
  options.banned = banned_in_targets();
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
  options.banned = banned_in_targets();
  std::vector<std::string> hypotheses;
  for (const auto& found : beam_search(model, values, pool, sources, options))
    hypotheses.push_back(tokenizers.target->decode(found.front().ids));
  return corpus_bleu(hypotheses, references, {.tokens = BleuTokens::none}).score;
}

TextPairs validation_pairs(const RunConfig& c, const std::string& folder) {
  const ReadOptions options{c.tokenizer.type == TokenizerConfig::byte, c.data.lowercase};
  const DataConfig& d = c.data;
  const bool own = d.has_valid_files();
  const std::string& tsv = own ? d.valid_pairs : d.pairs;
  const Pairs all =
      !tsv.empty() ? read_tsv(resolve_path(folder, tsv), options)
                   : read_parallel(resolve_path(folder, own ? d.valid_source : d.source),
                                   resolve_path(folder, own ? d.valid_target : d.target), options);
  const std::size_t first = own ? 0 : split_pairs(all.size(), d.valid_fraction);
  TextPairs pairs;
  for (std::size_t i = first; i < all.size(); ++i) {
    pairs.source.emplace_back(all.source[i]);
    pairs.target.emplace_back(all.target[i]);
  }
  return pairs;
}

}  // namespace heed
