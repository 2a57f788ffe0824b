#include "decode/beam.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "decode/incremental_decoder.h"
#include "decode/next_token.h"

namespace heed {
namespace {

constexpr int kMostSources = 64;  // in one group

// An unfinished hypothesis.
struct LiveHypothesis {
  int slot;  // of the decoder
  std::vector<int> ids = {};
  double log_probability = 0;
  std::vector<ScoredToken> next = {};  // its best continuations
  bool cut = false;                    // they are only </s>, which is not the most probable
};

// The search for one source, in slots of its own.
struct Search {
  const BeamOptions& options;
  int max_length, first_slot;
  std::vector<LiveHypothesis> active = {LiveHypothesis{first_slot}};
  std::vector<Hypothesis> finished = {};  // best first

  // The continuations of an active hypothesis, from the logits after it.
  void look(LiveHypothesis& a, std::span<const float> logits) const {
    const bool full = std::ssize(a.ids) == max_length;
    const auto [only, banned] =
        allowed_next(options.rules, a.ids, a.ids.size(), options.banned, options.end);
    a.next = only ? std::vector{scored_token(logits, *only)}
                  : best_tokens(logits, full ? 1 : options.beam_size, banned);
    a.cut = full && !a.next.empty() && a.next.front().id != options.end;
    if (full || a.next.empty()) a.next = {scored_token(logits, options.end)};
  }

  // Takes one step with the most probable of the continuations.
  void advance(IncrementalDecoder& decoder) {
    struct Candidate {
      const LiveHypothesis* parent;
      int id;
      double log_probability;
    };
    std::vector<Candidate> best;
    for (const LiveHypothesis& a : active)
      for (const ScoredToken& t : a.next)
        best.push_back({&a, t.id, a.log_probability + t.log_probability});
    // Stable: ties go to the better parent, then to its better token.
    std::ranges::stable_sort(best, std::greater{}, &Candidate::log_probability);
    if (std::ssize(best) > options.beam_size)
      best.erase(best.begin() + options.beam_size, best.end());
    std::vector<LiveHypothesis> next;
    for (const auto& [parent, id, log_probability] : best) {
      if (id == options.end) {
        finish({parent->ids, log_probability, 0, !parent->cut});
        continue;
      }
      next.push_back({parent->slot, parent->ids, log_probability});
      next.back().ids.push_back(id);
    }
    if (!next.empty() && cannot_improve(next.front())) next.clear();
    share_slots(next, decoder);
    active = std::move(next);
  }

  void finish(Hypothesis h) {
    h.score = beam_score(h.log_probability, h.ids.size() + 1, options.length_penalty);
    finished.insert(std::ranges::upper_bound(finished, h.score, std::greater{}, &Hypothesis::score),
                    h);
    if (std::ssize(finished) > options.n_best) finished.pop_back();
  }

  bool cannot_improve(const LiveHypothesis& most_probable) const {
    return std::ssize(finished) == options.n_best &&
           beam_score(most_probable.log_probability, max_length + 1, options.length_penalty) <=
               finished.back().score;
  }

  // The first child of a parent stays in its slot; the others are copied to free slots.
  void share_slots(std::vector<LiveHypothesis>& children, IncrementalDecoder& decoder) const {
    std::vector<int> free(options.beam_size);
    std::iota(free.begin(), free.end(), first_slot);
    std::vector<LiveHypothesis*> copies;
    for (LiveHypothesis& child : children)
      if (std::erase(free, child.slot) == 0) copies.push_back(&child);
    for (std::size_t i = 0; i < copies.size(); ++i) {
      decoder.copy(copies[i]->slot, free[i]);
      copies[i]->slot = free[i];
    }
  }
};

// Searches for all these sources at once. `longest`: tokens of a target.
std::vector<std::vector<Hypothesis>> search_group(const Predictor& predictor, Pool& pool,
                                                  const std::vector<std::vector<int>>& sources,
                                                  const BeamOptions& options, int longest) {
  const int n = static_cast<int>(sources.size()), prefix = static_cast<int>(options.prefix.size());
  IncrementalDecoder decoder(predictor, pool, n * options.beam_size, longest + prefix);
  decoder.read_sources(sources);
  std::vector<Search> searches;
  for (int i = 0; i < n; ++i) {
    const int room = most_of_target(predictor.model, sources[i]) - prefix;
    searches.push_back({options, std::min(longest, room), i * options.beam_size});
    decoder.restart(searches[i].first_slot, i);
  }

  std::vector<std::pair<Search*, LiveHypothesis*>> rows;
  std::vector<IncrementalDecoder::Tokens> tokens;
  while (true) {
    rows.clear();
    tokens.clear();
    for (Search& s : searches)
      for (LiveHypothesis& a : s.active) {
        rows.emplace_back(&s, &a);
        const std::span<const int> ids(a.ids);
        tokens.push_back({a.slot, ids.empty() ? options.prefix : ids.last(1)});
      }
    if (rows.empty()) break;
    const Mat<float> logits = decoder.step(tokens);
    pool.run(static_cast<int>(rows.size()), [&](int i, int) {
      rows[i].first->look(*rows[i].second, {logits.row(i), static_cast<std::size_t>(logits.cols)});
    });
    for (Search& s : searches) s.advance(decoder);
  }
  std::vector<std::vector<Hypothesis>> results;
  for (Search& s : searches) results.push_back(std::move(s.finished));
  return results;
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(const Predictor& predictor, Pool& pool,
                                                 std::span<const std::vector<int>> sources,
                                                 const BeamOptions& options) {
  // The decoder reads the prefix and the tokens.
  const int prefix = static_cast<int>(options.prefix.size()),
            longest = std::min(options.max_length, most_positions(predictor.model.config) - prefix),
            slots = slots_at_a_time(predictor, longest + prefix, sources,
                                    kMostSources * options.beam_size);
  const auto group = static_cast<std::size_t>(std::max(1, slots / options.beam_size));
  std::vector<std::vector<Hypothesis>> results(sources.size());
  std::vector<int> order;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (!sources[i].empty()) order.push_back(static_cast<int>(i));
  // Sources of the same length end at about the same time.
  std::ranges::stable_sort(order, std::greater{}, [&](int i) { return sources[i].size(); });
  for (std::size_t begin = 0; begin < order.size(); begin += group) {
    const auto members = std::span(order).subspan(begin, std::min(group, order.size() - begin));
    std::vector<std::vector<int>> texts;
    for (const int m : members) texts.push_back(sources[m]);
    auto found = search_group(predictor, pool, texts, options, longest);
    for (std::size_t i = 0; i < found.size(); ++i) results[members[i]] = std::move(found[i]);
  }
  return results;
}

}  // namespace heed
