#include "decode/sampling.h"

#include <algorithm>
#include <numeric>

#include "base/noise.h"
#include "decode/session.h"
#include "text/tokenizer.h"

namespace heed {
namespace {

constexpr int kMostSamples = 128;  // decoded at a time

std::vector<int> last_of(const std::vector<int>& ids, std::size_t n) {
  return {ids.end() - static_cast<std::ptrdiff_t>(std::min(n, ids.size())), ids.end()};
}

// The samples [first, first + count) of a request.
class Group {
 public:
  Group(const Transformer& model, const ParamVec<float>& values, Pool& pool,
        const SampleRequest& request, int capacity, int first, int count)
      : request_(request),
        pool_(pool),
        encoder_(model.has_encoder()),
        vocab_(model.target_vocab),
        first_(first),
        session_(model, values, pool, count, capacity),
        texts_(count, request.prompt),
        next_(count),
        active_(count) {
    std::iota(active_.begin(), active_.end(), 0);
    if (request.rules.repetition_penalty != 1.0) {
      std::vector<bool> occurred(vocab_);
      if (!request.to_end)  // else the prompt is of the other side
        for (int id : request.prompt) occurred[id] = true;
      occurred_.assign(count, occurred);
    } else {
      occurred_.resize(count);
    }
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
        const int id = next_[s];
        texts_[s].push_back(id);
        if (!occurred_[s].empty()) occurred_[s][id] = true;
        const bool ended = request_.to_end && id == Tokenizer::kEos;
        if (!ended && sink(first_ + s, id) && position + 1 < request_.max_tokens)
          still.push_back(s);
        else
          done(first_ + s);
      }
      active_ = std::move(still);
      if (active_.empty()) return;
      logits = session_.length(active_.front()) < session_.capacity() ? step() : start_anew();
    }
  }

 private:
  int choose(int s, std::span<float> logits, int position) const {
    apply_rules(logits, request_.rules, occurred_[s], request_.banned);
    const std::uint64_t key = noise_key(request_.seed, Purpose::sample, first_ + s);
    return draw(logits, uniform01(key, static_cast<std::uint64_t>(position)));
  }

  // All samples begin alike: the first one is fed, the others are copied.
  Mat<float> start() {
    std::vector<int> ids{Tokenizer::kBos};
    if (encoder_) {
      const std::vector<int> source = request_.to_end ? request_.prompt : source_of(0);
      session_.read_sources({&source, 1});
    } else {
      ids.insert(ids.end(), request_.prompt.begin(), request_.prompt.end());
      ids = last_of(ids, session_.capacity());
    }
    const Session::Feed feed{0, 0, ids};
    const Mat<float> one = session_.feed({&feed, 1});
    logits_.resize(active_.size() * one.cols);
    for (std::size_t s = 0; s < active_.size(); ++s) {
      std::copy_n(one.row(0), one.cols, logits_.data() + s * one.cols);
      session_.copy(0, static_cast<int>(s));
    }
    return {logits_.data(), static_cast<int>(active_.size()), one.cols};
  }

  Mat<float> step() {
    std::vector<Session::Feed> feeds;
    const auto source = [&](std::size_t i) {
      return own_sources_ ? static_cast<int>(source_of_[active_[i]]) : 0;
    };
    for (std::size_t i = 0; i < active_.size(); ++i)
      feeds.push_back({active_[i], source(i), {&next_[active_[i]], 1}});
    return session_.feed(feeds);
  }

  // The decoder is full: every sample goes on from what it has written.
  Mat<float> start_anew() {
    std::vector<std::vector<int>> ids(active_.size(), {Tokenizer::kBos});
    if (encoder_) {
      std::vector<std::vector<int>> sources;
      source_of_.assign(texts_.size(), 0);
      for (const int s : active_) {
        source_of_[s] = static_cast<int>(sources.size());
        sources.push_back(source_of(s));
      }
      session_.read_sources(sources);
      own_sources_ = true;
    } else {
      const std::size_t keep = std::max(1, session_.capacity() / 2);
      for (std::size_t i = 0; i < active_.size(); ++i) ids[i] = last_of(texts_[active_[i]], keep);
    }
    std::vector<Session::Feed> feeds;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      session_.restart(active_[i]);
      feeds.push_back({active_[i], static_cast<int>(i), ids[i]});
    }
    return session_.feed(feeds);
  }

  std::vector<int> source_of(int s) const {
    return texts_[s].empty() ? std::vector<int>{Tokenizer::kBos}
                             : last_of(texts_[s], request_.source_length);
  }

  const SampleRequest& request_;
  Pool& pool_;
  bool encoder_;
  int vocab_, first_;
  Session session_;
  std::vector<std::vector<int>> texts_;  // prompt and what was written
  std::vector<std::vector<bool>> occurred_;
  std::vector<int> next_;    // the token each sample has just drawn
  std::vector<int> active_;  // samples that go on
  std::vector<float> logits_;
  bool own_sources_ = false;  // since the first new start; before, all read source 0
  std::vector<int> source_of_;
};

}  // namespace

void draw_samples(const Transformer& model, const ParamVec<float>& values, Pool& pool,
                  const SampleRequest& request, const SampleSink& sink, const SampleDone& done) {
  const int capacity = request.to_end ? request.max_tokens : request.target_length;
  const int group = slots_at_a_time(model.config, capacity, kMostSamples);
  for (int first = 0; first < request.num_samples; first += group)
    Group(model, values, pool, request, capacity, first,
          std::min(group, request.num_samples - first))
        .run(sink, done);
}

}  // namespace heed
