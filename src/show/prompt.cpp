#include "show/film.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/format.h"
#include "base/log.h"
#include "base/std_names.h"
#include "data/user_text.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr size_t kCandidates = 60, kNear = 2'000;  // tokens in which one is looked for
constexpr size_t kAhead = 100;                     // tokens that are compared

double difference(const TokenIds& ids, const vector<int64_t>& counts, double all) {
  map<int, double> here;
  for (const int id : ids) ++here[id];
  const auto n = double(ids.size());
  double sum = 0;
  for (const auto& [id, count] : here)
    sum += count / n * log(count / n * all / double(counts[size_t(id)] + 1));
  return sum;
}

// Does a line or a sentence begin with this token, which is not one of the first?
bool begins(const Ids& ids, size_t at, const Tokenizer& tokenizer) {
  const string before = tokenizer.decode(part(ids, at - 4, at)),
               next = tokenizer.text_after(ids[at - 1], ids[at]);
  if (is_blank(next)) return false;
  const size_t end = before.find_last_not_of(" \t\n") + 1;
  const string gap = before.substr(end) + next.substr(0, next.find_first_not_of(' '));
  const bool sentence = end > 0 && string_view(".!?").find(before[end - 1]) != string_view::npos;
  return gap.find('\n') != gap.npos || (sentence && !gap.empty());
}

}  // namespace

Tile chosen_prompt(const Dataset& data, const Tokenizer& tokenizer, const Objective& objective,
                   int shown) {
  const bool held_out = objective.count(data.valid, Objective::kEvaluation) > 0;
  const Split& split = held_out ? data.valid : data.train;
  if (split.pairs()) return {};
  const Ids& ids = split.target;
  const int read = objective.longest(Side::source);
  auto most = size_t(read > 0 ? read : min(3 * shown / 4, objective.longest(Side::target)));
  const vector<int64_t> counts = counts_of(data.train);
  const auto all = double(data.train.target.size() + counts.size());
  size_t best = 0;
  double least = INFINITY;
  const size_t places = held_out ? ids.size() - min(ids.size(), most + kAhead) : 0;
  for (size_t i = 0; i < kCandidates; ++i) {
    size_t at = max<size_t>(4, places * i / kCandidates);
    const size_t end = min(places * (i + 1) / kCandidates, at + kNear);
    while (at < end && !begins(ids, at, tokenizer)) ++at;
    if (at >= end) continue;
    const double found = difference(part(ids, at, at + kAhead), counts, all);
    if (found < least) least = found, best = at;
  }
  most = min(most, (ids.size() - best) / 2);
  size_t end = best + most;
  while (end > best + most / 2 &&
         tokenizer.text_after(ids[end - 1], ids[end]).find_first_of(" \n") != 0)
    --end;
  return {best, end};
}

TokenIds given_prompt(const RunConfig& config, const Tokenizers& tokenizers,
                      const Objective& objective) {
  Log log({.quiet = true});
  const string text = objective.with_mask_tokens(config.train.prompt);
  TokenIds ids = UserTexts(objective, config, tokenizers, log).prompt(text).ids();
  if (objective.fills() && objective.masks_in(ids).empty())
    throw usage_error("train.prompt has no [MASK].").hint("--prompt 'The [MASK] said'");
  return ids;
}

}  // namespace heed
