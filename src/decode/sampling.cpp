#include "decode/sampling.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/noise.h"
#include "base/std_names.h"
#include "decode/incremental_decoder.h"
#include "text/utf8.h"

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
        first_(first),
        decoder_(predictor, pool, count, capacity_of(objective, request)),
        texts_(count, request.prompt),
        next_(count),
        active_(count) {
    std::iota(active_.begin(), active_.end(), 0);
  }

  void run(const SampleSink& sink, const SampleDone& done) {
    Mat<float> logits = start();
    for (int position = 0;; ++position) {
      pool_.run(int(active_.size()), [&](int i, int) {
        next_[active_[i]] = choose(active_[i], {logits.row(i), size_t(logits.cols)}, position);
      });
      vector<int> still;
      for (const int s : active_) {
        const int id = next_[s].id;
        texts_[s].push_back(id);
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
  TokenOdds choose(int s, span<const float> logits, int position) {
    const size_t written = position;
    // The prompt is part of a text that continues it.
    const span<const int> all(texts_[s]), text = objective_.continues() ? all : all.last(written);
    const auto [only, banned] =
        allowed_next(request_.writing, text, written, request_.banned, Tokenizer::kEos);
    vector<float> row(logits.begin(), logits.end());
    apply_rules(row, request_.rules, text, banned);
    const uint64_t key = noise_key(request_.seed, Purpose::sample, first_ + s);
    const int id = only ? *only : draw(row, uniform01(key, written));
    return request_.n_best < 0 ? TokenOdds{id} : token_odds(logits, id, request_.n_best);
  }

  // All samples begin the same: the first reads the prompt, the others are copies.
  Mat<float> start() {
    const Example read = objective_.continued(request_.prompt, false);
    decoder_.read_sources({&read.source, 1});
    const IncrementalDecoder::Tokens tokens{0, read.target};
    const Mat<float> one = decoder_.step({&tokens, 1});
    for (const int s : active_) decoder_.copy(0, s);
    return {one.data, int(active_.size()), one.cols, 0};  // a row for all
  }

  Mat<float> step() {
    vector<IncrementalDecoder::Tokens> tokens;
    for (const int s : active_) tokens.push_back({s, {&next_[s].id, 1}});
    return decoder_.step(tokens);
  }

  // The decoder is full: every sample continues from the text it has written.
  Mat<float> restart() {
    vector<TokenIds> sources, targets;
    for (const int s : active_) {
      Example read = objective_.continued(texts_[s], true);
      sources.push_back(std::move(read.source));
      targets.push_back(std::move(read.target));
    }
    decoder_.read_sources(sources);
    vector<IncrementalDecoder::Tokens> tokens;
    for (size_t i = 0; i < active_.size(); ++i) {
      decoder_.restart(active_[i], int(i));
      tokens.push_back({active_[i], targets[i]});
    }
    return decoder_.step(tokens);
  }

  const SampleRequest& request_;
  const Objective& objective_;
  Pool& pool_;
  int first_;
  IncrementalDecoder decoder_;
  vector<vector<int>> texts_;  // prompt and continuation
  vector<TokenOdds> next_;     // the token each sample has just drawn
  vector<int> active_;         // unfinished samples
};

// How many bytes at the end of `text` begin an incomplete character.
size_t unfinished(string_view text) {
  if (text.empty()) return 0;
  const size_t begin = utf8_floor(text, text.size() - 1), there = text.size() - begin;
  const uint8_t lead = text[begin];
  const size_t whole = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  return whole > there ? there : 0;
}

}  // namespace

void draw_samples(const Predictor& predictor, const Objective& objective, Pool& pool,
                  const SampleRequest& asked, const SampleSink& sink, const SampleDone& done) {
  SampleRequest request = asked;
  const TokenIds source = objective.continued(asked.prompt, false).source;
  if (!objective.continues())
    request.max_tokens = min(asked.max_tokens, most_of_target(predictor.model, source));
  const int group =
      slots_at_a_time(predictor, capacity_of(objective, request), {&source, 1}, kMostSamples);
  for (int first = 0; first < request.num_samples; first += group)
    Group(predictor, objective, pool, request, first, min(group, request.num_samples - first))
        .run(sink, done);
}

TextStream::TextStream(const Tokenizer& tokenizer, int previous, vector<string> stops,
                       bool after_space)
    : tokenizer_(tokenizer),
      previous_(previous),
      stops_(std::move(stops)),
      after_space_(after_space) {
  erase(stops_, "");
}

string TextStream::push(int id) {
  if (stopped_ || tokenizer_.is_special(id)) return "";
  const string text = tokenizer_.text_after(previous_, id);
  held_ += text.substr(exchange(after_space_, false) && text.starts_with(' ') ? 1 : 0);
  previous_ = id;
  // The text before held_ cannot be part of a stop, so searching held_ is enough.
  size_t stop_at = string::npos;
  for (const string& stop : stops_) stop_at = min(stop_at, held_.find(stop));
  if (stop_at != string::npos) {
    held_.resize(stop_at);
    stopped_ = true;
    return finish();
  }
  size_t back = 0;  // as many bytes as may begin a stop
  for (const string& stop : stops_) back = max(back, stop.size() - 1);
  const size_t end = held_.size() - min(held_.size(), back);
  return show_to(end - unfinished(string_view(held_).substr(0, end)));
}

string TextStream::finish() {
  return show_to(held_.size());
}

string TextStream::show_to(size_t end) {
  string text = to_valid_utf8(string_view(held_).substr(0, end));
  held_.erase(0, end);
  return text;
}

}  // namespace heed
