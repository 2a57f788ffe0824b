#include "evaluate/scorer.h"

#include <algorithm>

#include "base/error.h"
#include "evaluate/evaluator.h"

namespace heed {
namespace {

using TokenIds = std::vector<int>;

TokenIds part(const TokenIds& ids, std::size_t begin, std::size_t end) {
  return {ids.begin() + static_cast<std::ptrdiff_t>(begin),
          ids.begin() + static_cast<std::ptrdiff_t>(end)};
}

TokenIds with_bos(TokenIds ids) {
  ids.insert(ids.begin(), Tokenizer::kBos);
  return ids;
}

// The encoder reads what comes before a tile: of the source and the line's earlier tokens.
Example prefix_tile(const ObjectiveConfig& o, const TokenIds& source, const TokenIds& line,
                    std::size_t begin, std::size_t end) {
  const auto length = static_cast<std::size_t>(o.source_length);
  const std::size_t of_line = std::min(begin, length);
  const std::size_t of_source = std::min(source.size(), length - of_line);
  Example e;
  e.source = part(source, source.size() - of_source, source.size());
  e.source.insert(e.source.end(), line.begin() + static_cast<std::ptrdiff_t>(begin - of_line),
                  line.begin() + static_cast<std::ptrdiff_t>(begin));
  if (e.source.empty()) e.source = {Tokenizer::kBos};
  e.target = with_bos(part(line, begin, end - 1));
  e.labels = part(line, begin, end);
  return e;
}

}  // namespace

Example pair_example(TokenIds source, const TokenIds& target) {
  Example e{std::move(source), with_bos(target), target};
  e.labels.push_back(Tokenizer::kEos);
  return e;
}

std::vector<Example> score_examples(const RunConfig& config, const TokenIds& source,
                                    const TokenIds& target, int mask_id) {
  const ObjectiveConfig& o = config.objective;
  std::vector<Example> examples;
  if (o.type == ObjectiveType::seq2seq) {
    TokenIds whole = source;
    whole.push_back(Tokenizer::kEos);
    return {pair_example(std::move(whole), target)};
  }
  const bool masked = o.type == ObjectiveType::masked_lm;
  const auto length = static_cast<std::size_t>(masked ? o.source_length : o.target_length);
  for (std::size_t begin = 0; begin < target.size(); begin += length) {
    const std::size_t end = std::min(target.size(), begin + length);
    if (o.type == ObjectiveType::prefix_lm) {
      examples.push_back(prefix_tile(o, source, target, begin, end));
    } else if (o.type == ObjectiveType::causal_lm) {
      examples.push_back(
          {{},
           begin == 0 ? with_bos(part(target, 0, end - 1)) : part(target, begin - 1, end - 1),
           part(target, begin, end)});
    } else {
      for (std::size_t i = begin; i < end; ++i) {
        Example e{with_bos(part(target, begin, end)), {}, TokenIds(end - begin + 1, -1)};
        e.labels[1 + i - begin] = target[i];
        e.source[1 + i - begin] = mask_id;
        examples.push_back(std::move(e));
      }
    }
  }
  return examples;
}

std::vector<std::vector<double>> label_log_probs(const Transformer& model,
                                                 const ParamVec<float>& values,
                                                 const std::vector<Example>& examples, Pool& pool) {
  struct Worker {
    Workspace workspace;
    TransformerSaved<float> saved;
    Batch batch;
    std::vector<double> log_probs;
  };
  std::vector<std::size_t> chunks{0};  // where each begins
  int tokens = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (tokens > 0 && tokens + examples[i].tokens() > kForwardTokens) {
      chunks.push_back(i);
      tokens = 0;
    }
    tokens += examples[i].tokens();
  }
  chunks.push_back(examples.size());
  std::vector<std::vector<double>> result(examples.size());
  std::vector<Worker> workers(pool.threads());
  pool.run(static_cast<int>(chunks.size()) - 1, [&](int chunk, int worker) {
    Worker& w = workers[worker];
    w.batch.clear();
    for (std::size_t i = chunks[chunk]; i < chunks[chunk + 1]; ++i) {
      const Example& e = examples[i];
      if (model.has_encoder())
        w.batch.source.add_sequence(e.source.data(), static_cast<int>(e.source.size()));
      if (model.has_decoder())
        w.batch.target.add_sequence(e.target.data(), static_cast<int>(e.target.size()));
      w.batch.labels.insert(w.batch.labels.end(), e.labels.begin(), e.labels.end());
    }
    if (w.batch.labels.empty()) return;
    WorkspaceScope scope(w.workspace);
    Pass<float> pass{.values = values, .workspace = w.workspace, .forward_only = true};
    const Mat<float> hidden = model.forward(pass, w.batch, w.saved);
    w.log_probs.resize(w.batch.labels.size());
    loss(pass, model.output, hidden, w.batch.labels, 0.0,
         Mat<double>{w.log_probs.data(), 1, hidden.rows});
    auto at = w.log_probs.begin();
    for (std::size_t i = chunks[chunk]; i < chunks[chunk + 1]; ++i) {
      const auto n = static_cast<std::ptrdiff_t>(examples[i].labels.size());
      result[i].assign(at, at + n);
      at += n;
    }
  });
  return result;
}

void check_positions(const RunConfig& config, const Example& e, const std::string& what) {
  const std::size_t longest = std::max(e.source.size(), e.target.size());
  if (config.model.positions != Positions::learned ||
      longest <= static_cast<std::size_t>(config.model.max_length))
    return;
  throw Error(Exit::data, what + " has " + std::to_string(longest) +
                              " tokens with <s> or </s>; this model has positions for " +
                              std::to_string(config.model.max_length) + ".");
}

}  // namespace heed
