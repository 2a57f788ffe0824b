#include "show/head_words.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/std_names.h"
#include "text/piece_model.h"

namespace heed {
namespace {

constexpr int kFewestRows = 3;

using Tokens = span<const string>;

struct TextPattern {
  const char* words;
  bool (*points)(Tokens queries, Tokens keys, int i, int j);  // does it point query i to key j?
  bool cross = false;  // of cross-attention, else of self-attention
};
constexpr TextPattern kTextPatterns[] = {
    {"the previous token", [](Tokens, Tokens, int i, int j) { return j == i - 1; }},
    {"itself", [](Tokens, Tokens, int i, int j) { return j == i; }},
    {"the token two back", [](Tokens, Tokens, int i, int j) { return j == i - 2; }},
    {"the next token", [](Tokens, Tokens, int i, int j) { return j == i + 1; }},
    {"earlier copies of the same token",
     [](Tokens queries, Tokens keys, int i, int j) { return j < i && keys[j] == queries[i]; }},
    {"the token after an earlier copy",
     [](Tokens queries, Tokens keys, int i, int j) {
       return 0 < j && j < i && keys[j - 1] == queries[i];
     }},
    {"the word it is about to write",
     [](Tokens queries, Tokens keys, int i, int j) {
       return i + 1 < std::ssize(queries) && keys[j] == queries[i + 1];
     },
     true},
    {"the token at the same position", [](Tokens, Tokens, int i, int j) { return j == i; }, true},
    {"the mirrored position",
     [](Tokens, Tokens keys, int i, int j) { return j == std::ssize(keys) - 2 - i; }, true}};

// A share of the weight, the mean over rows.
struct Share {
  string words;
  double rows = 0, share = 0, even = 0;  // even: of even weights
  bool parked = false;
};

// The largest weight of each row that has a choice.
Share largest_weights(AttentionKind kind, Mat<const float> weights) {
  Share sum;
  for (int i = 0; i < weights.rows; ++i)
    if (const int seen = visible_keys(kind, i, weights.cols); seen > 1) {
      sum.share += *std::max_element(weights.row(i), weights.row(i) + seen);
      sum.even += 1.0 / seen;
      ++sum.rows;
    }
  sum.share /= sum.rows;
  sum.even /= sum.rows;
  return sum;
}

// Of every pattern, and of every key alone.
vector<Share> all_shares(AttentionKind kind, Mat<const float> weights, Tokens queries,
                         Tokens keys) {
  vector<Share> shares;
  const auto add = [&](const string& words, int first, int last, auto points, bool parked) {
    const auto [weight, even, rows] = pattern_sums(kind, weights, first, last, points);
    shares.push_back({words, rows, weight / rows, even / rows, parked});
  };
  for (const TextPattern& pattern : kTextPatterns)
    if (pattern.cross == (kind == AttentionKind::cross))
      add(
          pattern.words, 0, weights.cols,
          [&](int i, int j) { return pattern.points(queries, keys, i, j); }, false);
  for (int k = 0; k < weights.cols; ++k) {
    const char* which = k == 0                  ? "the first token"
                        : k + 1 == weights.cols ? "the last token"
                                                : "one token";
    add(
        fmt::format("{}, “{}”", which, with_space_marks(keys[k])), k, k + 1,
        [](int, int) { return true; }, keys[k] == "<s>" || keys[k] == "</s>");
  }
  return shares;
}

}  // namespace

string HeadInWords::sentence() const {
  if (share == 0) return pattern;
  return fmt::format("{} in this text ({}; evenly spread weights would give {:.2f})", pattern,
                     simple
                         ? fmt::format("{:.2f} of the weight in the rows that see it", share)
                         : fmt::format("the largest weight of a row is {:.2f} on average", share),
                     uniform);
}

HeadInWords head_in_words(AttentionKind kind, Mat<const float> weights, Tokens queries,
                          Tokens keys) {
  const Share largest = largest_weights(kind, weights);
  if (largest.rows < kFewestRows) return {"too few tokens to see a pattern"};
  Share best;
  for (const Share& mean : all_shares(kind, weights, queries, keys)) {
    if (mean.rows < kFewestRows || 2 * mean.rows < largest.rows) continue;
    if (mean.share < 0.3 || (mean.share < 2 * mean.even && mean.share < 0.8)) continue;
    if (mean.share > best.share) best = mean;
  }
  if (best.rows > 0)
    return {(best.share >= 0.5 ? "mostly " : "often ") + best.words, true, best.parked, best.share,
            best.even};
  return {largest.share < 2 * largest.even ? "spread widely" : "no simple pattern", false, false,
          largest.share, largest.even};
}

vector<HeadInWords> heads_in_words(const InputTokens& tokens, const AttentionMaps& maps,
                                   const HeadChoice& choice) {
  vector<HeadInWords> heads;
  for_heads(
      maps,
      [&](AttentionKind kind, const AttentionMap& map, int layer, int head) {
        HeadInWords& words = heads.emplace_back(head_in_words(
            kind, map.head(layer, head), queries_of(tokens, kind), keys_of(tokens, kind)));
        words.kind = kind;
        words.layer = layer;
        words.head = head;
      },
      choice);
  return heads;
}

HeadInWords clearest_head(const vector<HeadInWords>& heads, AttentionKind kind) {
  HeadInWords best;
  double most = -1;
  for (const HeadInWords& h : heads)
    if (const double clear = h.parked ? 0 : h.simple + h.share; h.kind == kind && clear > most) {
      most = clear;
      best = h;
    }
  return best;
}

}  // namespace heed
