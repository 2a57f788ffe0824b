#include "evaluate/scorer.h"
#include "base/std_names.h"

#include <algorithm>
#include <atomic>

namespace heed {
namespace {

// What one thread needs to score.
struct Worker {
  Workspace workspace;
  TransformerSaved<float> saved;
  Batch batch;
  Example example;

  // Examples [begin, end) in one pass.
  LossSums score(const Predictor& predictor, const ExampleList& examples, int64_t begin,
                 int64_t end, const RowSeen<float>& seen, Observer<float>* observer = nullptr) {
    batch.clear();
    for (int64_t i = begin; i < end; ++i) {
      examples.get(i, example);
      batch.add(example);
    }
    WorkspaceScope scope(workspace);
    Pass<float> pass = predictor.pass(workspace, observer);
    const Mat<float> hidden = predictor.model.forward(pass, batch, saved);
    return loss(pass, predictor.model.output, hidden, batch.labels, 0.0, seen,
                predictor.averaging(workspace, batch));
  }
};

}  // namespace

// Chunks have a fixed number of examples and are summed in order: the result is always the same.
Evaluation evaluate(const Predictor& predictor, const ExampleList& examples, const Crew& crew,
                    const function<bool()>& stop) {
  predictor.take_weights(crew.pool());
  Example first;
  int64_t longest = 1;
  for (int64_t i = 0; i < min<int64_t>(examples.count, 16); ++i) {
    examples.get(i, first);
    longest = max<int64_t>(longest, first.tokens());
  }
  const int64_t chunk = max<int64_t>(1, kForwardTokens / longest);
  vector<Evaluation> parts((examples.count + chunk - 1) / chunk);
  atomic<bool> stopped{false};
  vector<Worker> workers(crew.pool().threads());
  crew.run(parts.size(), [&](size_t task, int worker) {
    if (stopped || (stop && stop())) {
      stopped = true;
      return;
    }
    const int64_t begin = int64_t(task) * chunk;
    Worker& w = workers[worker];
    Evaluation& part = parts[task];
    part.sums = w.score(predictor, examples, begin, min(examples.count, begin + chunk),
                        [&](int row, span<const float> logits, double) {
                          const int label = w.batch.labels[row];
                          if (label == Tokenizer::kEos) return;
                          ++part.judged;
                          part.right += ranges::max_element(logits) - logits.begin() == label;
                        });
  });
  crew.gather(parts);
  Evaluation total;
  if (crew.sum(stopped) > 0) return total;
  for (const Evaluation& part : parts) {
    total.sums += part.sums;
    total.judged += part.judged;
    total.right += part.right;
  }
  return total;
}

vector<vector<TokenOdds>> label_odds(const Predictor& predictor, const vector<Example>& examples,
                                     Pool& pool, int n, Observer<float>* observer) {
  predictor.take_weights(pool);
  vector<size_t> chunks;  // where each begins, then the end of the last
  int tokens = 0;
  for (size_t i = 0; i < examples.size(); ++i) {
    if (i == 0 || (tokens > 0 && tokens + examples[i].tokens() > kForwardTokens)) {
      chunks.push_back(i);
      tokens = 0;
    }
    tokens += examples[i].tokens();
  }
  chunks.push_back(examples.size());
  const ExampleList list{int64_t(examples.size()),
                         [&](int64_t i, Example& out) { out = examples[i]; }};
  vector<vector<TokenOdds>> result(examples.size());
  vector<Worker> workers(pool.threads());
  pool.run(int(chunks.size()) - 1, [&](int chunk, int worker) {
    Worker& w = workers[worker];
    vector<TokenOdds> odds;
    const auto look = [&](int row, span<const float> logits, double nll) {
      const int label = w.batch.labels[row];
      odds.push_back(n < 0 ? TokenOdds{label, -nll} : token_odds(logits, label, n));
    };
    require_finite(
        w.score(predictor, list, chunks[chunk], chunks[chunk + 1], look, observer).objective);
    auto at = odds.begin();
    for (size_t i = chunks[chunk]; i < chunks[chunk + 1]; ++i)
      for (const int label : examples[i].labels)
        if (label >= 0) result[i].push_back(std::move(*at++));
  });
  return result;
}

}  // namespace heed
