#include "decode/beam.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/std_names.h"
#include "decode/incremental_decoder.h"
#include "decode/next_token.h"

namespace heed {
namespace {

constexpr int kMostSources = 64;  // in one group

// An unfinished hypothesis.
struct LiveHypothesis {
  int slot;  // of the decoder
  vector<int> ids = {};
  double log_probability = 0;
  vector<ScoredToken> next = {};  // its best continuations
  bool cut = false;               // they are only </s>, which is not the most probable
};

// The search for one source, in slots of its own.
struct Search {
  const BeamOptions& options;
  int max_length, first_slot;
  vector<LiveHypothesis> active = {LiveHypothesis{first_slot}};
  vector<Hypothesis> finished = {};  // best first

  // The continuations of an active hypothesis, from the logits after it.
  void look(LiveHypothesis& a, span<const float> logits) const {
    const bool full = ssize(a.ids) == max_length;
    const auto [only, banned] =
        allowed_next(options.rules, a.ids, a.ids.size(), options.banned, options.end);
    a.next = only ? vector{scored_token(logits, *only)}
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
    vector<Candidate> best;
    for (const LiveHypothesis& a : active)
      for (const ScoredToken& t : a.next)
        best.push_back({&a, t.id, a.log_probability + t.log_probability});
    // Stable: ties go to the better parent, then to its better token.
    ranges::stable_sort(best, greater{}, &Candidate::log_probability);
    if (ssize(best) > options.beam_size) best.erase(best.begin() + options.beam_size, best.end());
    vector<LiveHypothesis> next;
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
    finished.insert(ranges::upper_bound(finished, h.score, greater{}, &Hypothesis::score), h);
    if (ssize(finished) > options.n_best) finished.pop_back();
  }

  bool cannot_improve(const LiveHypothesis& most_probable) const {
    return ssize(finished) == options.n_best &&
           beam_score(most_probable.log_probability, max_length + 1, options.length_penalty) <=
               finished.back().score;
  }

  // The first child of a parent stays in its slot; the others are copied to free slots.
  void share_slots(vector<LiveHypothesis>& children, IncrementalDecoder& decoder) const {
    vector<int> free(options.beam_size);
    std::iota(free.begin(), free.end(), first_slot);
    vector<LiveHypothesis*> copies;
    for (LiveHypothesis& child : children)
      if (erase(free, child.slot) == 0) copies.push_back(&child);
    for (size_t i = 0; i < copies.size(); ++i) {
      decoder.copy(copies[i]->slot, free[i]);
      copies[i]->slot = free[i];
    }
  }
};

// Searches for all these sources at once. `longest`: tokens of a target.
vector<vector<Hypothesis>> search_group(const Predictor& predictor, Pool& pool,
                                        const vector<vector<int>>& sources,
                                        const BeamOptions& options, int longest) {
  const int n = int(sources.size()), prefix = int(options.prefix.size());
  IncrementalDecoder decoder(predictor, pool, n * options.beam_size, longest + prefix);
  decoder.read_sources(sources);
  vector<Search> searches;
  for (int i = 0; i < n; ++i) {
    const int room = most_of_target(predictor.model, sources[i]) - prefix;
    searches.push_back({options, min(longest, room), i * options.beam_size});
    decoder.restart(searches[i].first_slot, i);
  }

  vector<pair<Search*, LiveHypothesis*>> rows;
  vector<IncrementalDecoder::Tokens> tokens;
  while (true) {
    rows.clear();
    tokens.clear();
    for (Search& s : searches)
      for (LiveHypothesis& a : s.active) {
        rows.emplace_back(&s, &a);
        const span<const int> ids(a.ids);
        tokens.push_back({a.slot, ids.empty() ? options.prefix : ids.last(1)});
      }
    if (rows.empty()) break;
    const Mat<float> logits = decoder.step(tokens);
    pool.run(int(rows.size()), [&](int i, int) {
      rows[i].first->look(*rows[i].second, {logits.row(i), size_t(logits.cols)});
    });
    for (Search& s : searches) s.advance(decoder);
  }
  return mapped(searches, [](Search& s) { return std::move(s.finished); });
}

}  // namespace

vector<vector<Hypothesis>> beam_search(const Predictor& predictor, Pool& pool,
                                       span<const vector<int>> sources,
                                       const BeamOptions& options) {
  // The decoder reads the prefix and the tokens.
  const int prefix = int(options.prefix.size()),
            longest = min(options.max_length, most_positions(predictor.model.config) - prefix),
            slots = slots_at_a_time(predictor, longest + prefix, sources,
                                    kMostSources * options.beam_size);
  const size_t group = max(1, slots / options.beam_size);
  vector<vector<Hypothesis>> results(sources.size());
  vector<int> order;
  for (size_t i = 0; i < sources.size(); ++i)
    if (!sources[i].empty()) order.push_back(int(i));
  // Sources of the same length end at about the same time.
  ranges::stable_sort(order, greater{}, [&](int i) { return sources[i].size(); });
  for (size_t begin = 0; begin < order.size(); begin += group) {
    const auto members = span(order).subspan(begin, min(group, order.size() - begin));
    const auto texts = mapped(members, [&](int m) { return sources[m]; });
    auto found = search_group(predictor, pool, texts, options, longest);
    for (size_t i = 0; i < found.size(); ++i) results[members[i]] = std::move(found[i]);
    if (options.share_done) options.share_done(double(begin + members.size()) / order.size());
  }
  return results;
}

}  // namespace heed
