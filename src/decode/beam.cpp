#include "decode/beam.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "decode/best_tokens.h"
#include "decode/incremental_decoder.h"

namespace heed {
namespace {

constexpr int kMostSources = 64;  // in one group

// An unfinished hypothesis.
struct LiveHypothesis {
  int slot;
  std::vector<int> ids;
  double log_probability = 0;
  std::vector<ScoredToken> next;  // its best continuations
  bool cut = false;               // they are only </s>, which is not the most probable
};

struct BeamCandidate {
  int parent;  // in Search::active
  ScoredToken token;
  double log_probability;
};

// The search for one source.
class Search {
 public:
  Search(const BeamOptions& options, int max_length, int first_slot)
      : options_(&options), max_length_(max_length), slots_(options.beam_size) {
    std::iota(slots_.begin(), slots_.end(), first_slot);
    active.push_back({slots_.front(), {}, 0.0, {}, false});
  }

  std::vector<Hypothesis> take() { return std::move(finished_); }

  // The continuations of an active hypothesis, from the logits after it.
  void look(LiveHypothesis& a, std::span<const float> logits) const {
    const bool full = std::ssize(a.ids) == max_length_;
    const auto [only, banned] =
        allowed_next(options_->rules, a.ids, a.ids.size(), options_->banned, options_->end);
    a.next = only ? std::vector{scored_token(logits, *only)}
                  : best_tokens(logits, full ? 1 : options_->beam_size, banned);
    a.cut = full && !a.next.empty() && a.next.front().id != options_->end;
    if (full || a.next.empty()) a.next = {scored_token(logits, options_->end)};
  }

  // Takes one step from the continuations in active[i].next; slots move with their hypotheses.
  void advance(IncrementalDecoder& decoder) {
    const std::vector<BeamCandidate> kept = best_extensions();
    std::vector<LiveHypothesis> next;
    for (const BeamCandidate& e : kept) {
      const LiveHypothesis& parent = active[e.parent];
      if (e.token.id == options_->end) {
        finish({parent.ids, e.log_probability, 0, !parent.cut});
      } else {
        next.push_back({e.parent, parent.ids, e.log_probability, {}, false});  // slot: see below
        next.back().ids.push_back(e.token.id);
      }
    }
    const bool over = next.empty() || cannot_improve(next);
    if (!over) move_slots(next, decoder);
    active = over ? std::vector<LiveHypothesis>() : std::move(next);
  }

  std::vector<LiveHypothesis> active;

 private:
  std::vector<BeamCandidate> best_extensions() const {
    std::vector<BeamCandidate> all;
    for (int p = 0; p < static_cast<int>(active.size()); ++p)
      for (const ScoredToken& t : active[p].next)
        all.push_back({p, t, active[p].log_probability + t.log_probability});
    // Stable: ties go to the better parent, then to its better token.
    std::ranges::stable_sort(all, std::greater{}, &BeamCandidate::log_probability);
    if (all.size() > static_cast<std::size_t>(options_->beam_size)) all.resize(options_->beam_size);
    return all;
  }

  void finish(Hypothesis h) {
    h.score = beam_score(h.log_probability, h.ids.size() + 1, options_->length_penalty);
    const auto at = std::find_if(finished_.begin(), finished_.end(),
                                 [&](const Hypothesis& o) { return o.score < h.score; });
    finished_.insert(at, std::move(h));
    if (finished_.size() > static_cast<std::size_t>(options_->n_best)) finished_.pop_back();
  }

  bool cannot_improve(const std::vector<LiveHypothesis>& next) const {
    if (finished_.size() < static_cast<std::size_t>(options_->n_best)) return false;
    // The first is the most probable.
    return beam_score(next.front().log_probability, max_length_ + 1, options_->length_penalty) <=
           finished_.back().score;
  }

  // The first child of a parent stays in its slot; the others are copied to free slots. On entry
  // `slot` is the index of the parent in `active`.
  void move_slots(std::vector<LiveHypothesis>& next, IncrementalDecoder& decoder) const {
    std::vector<int> free = slots_;
    std::vector<LiveHypothesis*> copies;
    for (LiveHypothesis& child : next) {
      child.slot = active[child.slot].slot;
      if (std::erase(free, child.slot) == 0) copies.push_back(&child);
    }
    for (std::size_t i = 0; i < copies.size(); ++i) {
      decoder.copy(copies[i]->slot, free[i]);
      copies[i]->slot = free[i];
    }
  }

  const BeamOptions* options_;
  int max_length_;
  std::vector<int> slots_;
  std::vector<Hypothesis> finished_;  // best first
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
    searches.emplace_back(options, std::min(longest, room), i * options.beam_size);
    decoder.restart(searches[i].active.front().slot, i);
  }

  struct Row {
    Search* search;
    LiveHypothesis* hypothesis;
  };
  std::vector<Row> rows;
  std::vector<IncrementalDecoder::Tokens> tokens;
  while (true) {
    rows.clear();
    tokens.clear();
    for (Search& s : searches)
      for (LiveHypothesis& a : s.active) {
        rows.push_back({&s, &a});
        const std::span<const int> ids(a.ids);
        tokens.push_back({a.slot, ids.empty() ? options.prefix : ids.last(1)});
      }
    if (rows.empty()) break;
    const Mat<float> logits = decoder.step(tokens);
    pool.run(static_cast<int>(rows.size()), [&](int i, int) {
      rows[i].search->look(*rows[i].hypothesis,
                           {logits.row(i), static_cast<std::size_t>(logits.cols)});
    });
    for (Search& s : searches)
      if (!s.active.empty()) s.advance(decoder);
  }
  std::vector<std::vector<Hypothesis>> results;
  for (Search& s : searches) results.push_back(s.take());
  return results;
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(const Predictor& predictor, Pool& pool,
                                                 std::span<const std::vector<int>> sources,
                                                 const BeamOptions& options) {
  assert(options.beam_size >= 1 && options.n_best >= 1 && options.n_best <= options.beam_size &&
         options.max_length >= 1 && options.length_penalty >= 0);
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
