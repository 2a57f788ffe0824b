#include "decode/sampling.h"

#include <algorithm>
#include <numeric>

#include "base/noise.h"
#include "decode/incremental_decoder.h"

namespace heed {
namespace {

constexpr int kMostSamples = 128;  // in one group

// How many tokens the decoder holds before it restarts from the text written so far. The answer to
// a prompt never restarts.
int capacity_of(const Objective& objective, const SampleRequest& request) {
  return objective.continues() ? objective.longest(Side::target) : request.max_tokens;
}

// The samples [first, first + count) of a request.
class Group {
 public:
  Group(const Predictor& predictor, const Objective& objective, Pool& pool,
        const SampleRequest& request, int first, int count)
      : request_(request),
        objective_(objective),
        pool_(pool),
        vocab_(predictor.model.target_vocab),
        first_(first),
        decoder_(predictor, pool, count, capacity_of(objective, request)),
        texts_(count, request.prompt),
        next_(count),
        row_of_(count),
        active_(count) {
    std::iota(active_.begin(), active_.end(), 0);
    std::vector<bool> occurred(vocab_);
    if (objective.continues())  // else the prompt is not part of the text
      for (int id : request.prompt) occurred[id] = true;
    occurred_.assign(count, occurred);
  }

  void run(const SampleSink& sink, const SampleDone& done) {
    Mat<float> logits = start();
    for (int position = 0;; ++position) {
      pool_.run(static_cast<int>(active_.size()), [&](int i, int) {
        next_[active_[i]] =
            choose(active_[i], {logits.row(i), static_cast<std::size_t>(vocab_)}, position);
      });
      std::vector<int> still;
      for (const int s : active_) {
        const int id = next_[s].id;
        texts_[s].push_back(id);
        occurred_[s][id] = true;
        if (id != Tokenizer::kEos && sink(first_ + s, next_[s]) &&
            position + 1 < request_.max_tokens)
          still.push_back(s);
        else
          done(first_ + s);
      }
      active_ = std::move(still);
      if (active_.empty()) return;
      logits = decoder_.length(active_.front()) < decoder_.capacity() ? step() : restart();
    }
  }

 private:
  TokenOdds choose(int s, std::span<float> logits, int position) {
    if (request_.n_best >= 0) row_of_[s].assign(logits.begin(), logits.end());
    const auto written = static_cast<std::size_t>(position);
    const std::span<const int> text(texts_[s]);
    const auto [only, banned] =
        allowed_next(request_.writing, objective_.continues() ? text : text.last(written), written,
                     request_.banned, Tokenizer::kEos);
    apply_rules(logits, request_.rules, occurred_[s], banned);
    const std::uint64_t key = noise_key(request_.seed, Purpose::sample, first_ + s);
    const int id =
        only ? *only : draw(logits, uniform01(key, static_cast<std::uint64_t>(position)));
    return request_.n_best < 0 ? TokenOdds{id} : token_odds(row_of_[s], id, request_.n_best);
  }

  // All samples begin the same: the first reads the prompt, the others are copies.
  Mat<float> start() {
    const Example read = objective_.continued(request_.prompt, false);
    decoder_.read_sources({&read.source, 1});
    const IncrementalDecoder::Tokens tokens{0, read.target};
    const Mat<float> one = decoder_.step({&tokens, 1});
    logits_.resize(active_.size() * one.cols);
    for (std::size_t s = 0; s < active_.size(); ++s) {
      std::copy_n(one.row(0), one.cols, logits_.data() + s * one.cols);
      decoder_.copy(0, static_cast<int>(s));
    }
    return {logits_.data(), static_cast<int>(active_.size()), one.cols};
  }

  Mat<float> step() {
    std::vector<IncrementalDecoder::Tokens> tokens;
    for (const int s : active_) tokens.push_back({s, {&next_[s].id, 1}});
    return decoder_.step(tokens);
  }

  // The decoder is full: every sample continues from the text it has written.
  Mat<float> restart() {
    std::vector<TokenIds> sources, targets;
    for (const int s : active_) {
      Example read = objective_.continued(texts_[s], true);
      sources.push_back(std::move(read.source));
      targets.push_back(std::move(read.target));
    }
    decoder_.read_sources(sources);
    std::vector<IncrementalDecoder::Tokens> tokens;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      decoder_.restart(active_[i], static_cast<int>(i));
      tokens.push_back({active_[i], targets[i]});
    }
    return decoder_.step(tokens);
  }

  const SampleRequest& request_;
  const Objective& objective_;
  Pool& pool_;
  int vocab_, first_;
  IncrementalDecoder decoder_;
  std::vector<std::vector<int>> texts_;  // prompt and continuation
  std::vector<std::vector<bool>> occurred_;
  std::vector<TokenOdds> next_;             // the token each sample has just drawn
  std::vector<std::vector<float>> row_of_;  // its logits before the rules, if they are looked at
  std::vector<int> active_;                 // unfinished samples
  std::vector<float> logits_;
};

}  // namespace

void draw_samples(const Predictor& predictor, const Objective& objective, Pool& pool,
                  const SampleRequest& asked, const SampleSink& sink, const SampleDone& done) {
  SampleRequest request = asked;
  const TokenIds source = objective.continued(asked.prompt, false).source;
  if (!objective.continues())
    request.max_tokens = std::min(asked.max_tokens, most_of_target(predictor.model, source));
  const int group =
      slots_at_a_time(predictor, capacity_of(objective, request), {&source, 1}, kMostSamples);
  for (int first = 0; first < request.num_samples; first += group)
    Group(predictor, objective, pool, request, first, std::min(group, request.num_samples - first))
        .run(sink, done);
}

}  // namespace heed
