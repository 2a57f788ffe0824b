#include "data/objective.h"

#include <algorithm>

#include "base/cgroup.h"
#include "base/format.h"
#include "base/noise.h"
#include "base/std_names.h"

namespace heed {

void Objective::example(const Split& split, int64_t epoch, int64_t index, Example& out) const {
  out.clear();
  int64_t number = index;
  if (epoch != kEvaluation)
    number = permuted(noise_key(seed_, Purpose::order, epoch), count(split, epoch), index);
  build(split, epoch, number, out);
}

ExampleList Objective::evaluation(const Split& split, int stride) const {
  if (stride > 0)
    throw usage_error(
        "windows overlap only where each token is predicted from those before it (objective.type "
        "causal_lm).")
        .hint("heed evaluate without --stride");
  return {count(split, kEvaluation),
          [this, &split](int64_t i, Example& out) { example(split, kEvaluation, i, out); }};
}

void Objective::check_use(string_view command, const string& run) const {
  // `sample` works for every model that writes freely.
  if (command == use().command || (command == "sample" && !fills())) return;
  throw usage_error("heed {} is not for this model, which takes {}.", command, use().takes)
      .hint(fmt::format("heed {} {}{}", use().command, run, fills() ? " \"[MASK]\"" : ""));
}

string Objective::fit(Side side, size_t ids, const string& name, size_t at_once) const {
  // Every head has a weight for each pair of tokens.
  const double n = ids, needed = 4.0 * heads_ * n * n * at_once;
  constexpr double kSmall = 1 << 24;
  if (const double available = needed > kSmall ? available_memory() : needed; needed > available)
    throw data_error(
        "{} has {} tokens; attention over them takes {} of memory, and {} are available.", name,
        ids, format_bytes(needed), format_bytes(available))
        .hint("a shorter text");
  const bool reads_longer = traits_.trained_on > 0;
  const int most = reads_longer ? traits_.trained_on : longest(side);
  if (ids <= size_t(most)) return "";
  const string what = fmt::format("{} has {} tokens, with <s> or </s>; the model {} at most {}",
                                  name, ids, reads_longer ? "was trained on" : "reads", most);
  if (reads_longer) return what + ": the result may be poor and slow";
  throw data_error("{}.", what).hint("a shorter text, or a model trained on longer ones");
}

Question Objective::question_on(const TokenIds& text) const {
  Question q{continued(text, false), {text}, {{}}};
  auto& [source, target, labels, none] = q.read;
  if (traits_.decoder()) {
    labels.assign(target.begin() + 1, target.end());
    labels.push_back(-1);
  } else {
    target.clear();
    labels.assign(source.size(), -1);
    q.prompts = {source};
  }
  join(q.read);
  if (traits_.joined) source.clear();
  return q;
}

Question Objective::question(const Split& split, Tile prompt, int, int written) const {
  Question q = question_on(part(split.target, prompt.begin, prompt.end));
  q.expected = {part(split.target, prompt.end, prompt.end + written)};
  for (const int id : q.expected[0]) {
    q.read.labels.back() = id;
    if (int(q.read.target.size()) == traits_.longest_target) break;
    q.read.target.push_back(id);
    q.read.labels.push_back(-1);
  }
  return q;
}

TokenIds Objective::never_written(const Tokenizer& tokenizer) const {
  TokenIds never;
  const bool writes_end = traits_.decoder() && !continues();
  for (int id = 0; id < tokenizer.first_ordinary_id(); ++id)
    if (id != Tokenizer::kEos || !writes_end) never.push_back(id);
  return never;
}

Tiles TextObjective::tiles_of(size_t n, int64_t epoch) const {
  Tiles tiles{n, tile_length_};
  const size_t most = min(tile_length_, n);
  if (epoch != kEvaluation && most > 0)
    tiles.offset = combine(noise_key(seed_, Purpose::offset), epoch) % most;
  return tiles;
}

int64_t TextObjective::count(const Split& split, int64_t epoch) const {
  return tiles_of(split.target.size(), epoch).count();
}

void TextObjective::build(const Split& split, int64_t epoch, int64_t number, Example& out) const {
  const Tile tile = tiles_of(split.target.size(), epoch)[number];
  read_tile(split.target, tile, epoch, out);
  // Unless the objective says otherwise, the tile's tokens are the last labels.
  for (size_t i = out.places.size(); i < out.labels.size(); ++i)
    out.places.push_back(tile.end + i - out.labels.size());
}

ScoredLine TextObjective::score(const TokenIds& source, const TokenIds& line, int vocab) const {
  Ids text(vocab);
  for (const TokenIds* ids : {&source, &line})
    for (const int id : *ids) text.push_back(id);
  ScoredLine scored{framed_source(source), line, {}};
  const Tiles tiles = tiles_of(line.size(), kEvaluation);
  for (int64_t i = 0; i < tiles.count(); ++i) {
    const Tile of_line = tiles[i];
    read_tile(text, {source.size() + of_line.begin, source.size() + of_line.end}, kEvaluation,
              scored.examples.emplace_back());
  }
  if (!scored.examples.empty()) scored.source_ids = scored.examples.front().source;
  return scored;
}

ScoredLine TextObjective::score_in_turn(const TokenIds& line, const Ask& ask) const {
  ScoredLine scored{framed_source(line), line, {}};
  const Tiles tiles = tiles_of(line.size(), kEvaluation);
  for (int64_t i = 0; i < tiles.count(); ++i) {
    const TokenIds tokens(line.begin() + tiles[i].begin, line.begin() + tiles[i].end);
    for (size_t j = 0; j < tokens.size(); ++j) scored.examples.push_back(ask(tokens, j));
  }
  return scored;
}

TokenIds part(const Ids& text, size_t begin, size_t end) {
  TokenIds ids;
  text.copy(begin, min(end, text.size()), ids);
  return ids;
}

TokenIds last_of(const TokenIds& ids, size_t n) {
  return {ids.end() - min(n, ids.size()), ids.end()};
}

}  // namespace heed
