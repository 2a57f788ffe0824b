#include "show/head_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/fields.h"
#include "base/noise.h"
#include "base/std_names.h"
#include "evaluate/comparison.h"
#include "store/run_folder.h"
#include "text/piece_model.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr int kFewestRows = 3;

using Tokens = span<const string>;

// A space before it aside.
bool has_only_punctuation(string_view token) {
  if (token.size() > 1 && token.starts_with(' ')) token.remove_prefix(1);
  bool all = !token.empty();
  each_code_point(token, [&](CodePoint c, size_t) { all = all && is_punctuation(c.value); });
  return all;
}

struct Pattern {
  const char *words, *name;  // in one text, over held-out text; "": it is none there
  bool (*points)(Tokens queries, Tokens keys, int i, int j);  // does it point query i to key j?
  bool cross = false;   // of cross-attention, else of self-attention
  bool random = false;  // over held-out text, it is looked for in random tokens
};
constexpr Pattern kPatterns[] = {
    {"the previous token", "previous token",
     [](Tokens, Tokens, int i, int j) { return j == i - 1; }},
    {"itself", "same token", [](Tokens, Tokens, int i, int j) { return j == i; }},
    {"the token two back", "", [](Tokens, Tokens, int i, int j) { return j == i - 2; }},
    {"the next token", "", [](Tokens, Tokens, int i, int j) { return j == i + 1; }},
    {"", "first token", [](Tokens, Tokens, int, int j) { return j == 0; }},
    {"earlier copies of the same token", "duplicate",
     [](Tokens queries, Tokens keys, int i, int j) { return j < i && keys[j] == queries[i]; }},
    {"", "punctuation",
     [](Tokens, Tokens keys, int, int j) { return has_only_punctuation(keys[j]); }},
    {"the token after an earlier copy", "induction",
     [](Tokens queries, Tokens keys, int i, int j) {
       return 0 < j && j < i && keys[j - 1] == queries[i];
     },
     false, true},
    {"the word it is about to write", "",
     [](Tokens queries, Tokens keys, int i, int j) {
       return i + 1 < ssize(queries) && keys[j] == queries[i + 1];
     },
     true},
    {"the token at the same position", "", [](Tokens, Tokens, int i, int j) { return j == i; },
     true},
    {"the mirrored position", "",
     [](Tokens, Tokens keys, int i, int j) { return j == ssize(keys) - 2 - i; }, true}};

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
  vector<int> top;  // the key with the largest weight of each row
  for (int i = 0; i < weights.rows; ++i) {
    const float* row = weights.row(i);
    top.push_back(int(std::max_element(row, row + weights.cols) - row));
  }
  const PatternSums largest =
      pattern_sums(kind, weights, 0, weights.cols, [&](int i, int j) { return j == top[i]; });
  if (largest.rows < kFewestRows) return {"too few tokens to see a pattern"};
  HeadInWords best;
  const auto consider = [&](const string& words, bool parked, const PatternSums& sums) {
    if (sums.rows < kFewestRows || 2 * sums.rows < largest.rows) return;
    const double share = sums.weight / sums.rows, even = sums.even / sums.rows;
    if (share < 0.3 || (share < 2 * even && share < 0.8) || share <= best.share) return;
    best = {(share >= 0.5 ? "mostly " : "often ") + words, true, parked, share, even};
  };
  for (const Pattern& pattern : kPatterns)
    if (*pattern.words != '\0' && pattern.cross == (kind == AttentionKind::cross))
      consider(pattern.words, false,
               pattern_sums(kind, weights, 0, weights.cols,
                            [&](int i, int j) { return pattern.points(queries, keys, i, j); }));
  for (int k = 0; k < weights.cols; ++k) {  // every key alone
    const char* which = k == 0                  ? "the first token"
                        : k + 1 == weights.cols ? "the last token"
                                                : "one token";
    consider(fmt::format("{}, “{}”", which, with_space_marks(keys[k])),
             keys[k] == "<s>" || keys[k] == "</s>",
             pattern_sums(kind, weights, k, k + 1, [](int, int) { return true; }));
  }
  if (best.simple) return best;
  return {largest.weight < 2 * largest.even ? "spread widely" : "no simple pattern", false, false,
          largest.weight / largest.rows, largest.even / largest.rows};
}

vector<HeadInWords> heads_in_words(const InputTokens& tokens, const AttentionMaps& maps,
                                   const HeadChoice& choice) {
  vector<HeadInWords> heads;
  for_heads(maps, choice, [&](const AttentionMap& map, int layer, int head) {
    HeadInWords& words = heads.emplace_back(head_in_words(
        map.kind, map.head(layer, head), queries_of(tokens, map.kind), keys_of(tokens, map.kind)));
    words.kind = map.kind;
    words.layer = layer;
    words.head = head;
  });
  return heads;
}

const HeadInWords& clearest_head(const vector<HeadInWords>& heads) {
  return *ranges::max_element(heads, {}, [&](const HeadInWords& h) {
    return h.kind != heads.back().kind ? -1 : h.parked ? 0 : h.simple + h.share;
  });
}

namespace {

constexpr int64_t kTexts = 12, kRandomTexts = 10;
constexpr int kLongest = 64;  // tokens read of a text, on each side
constexpr double kLeastScore = 0.3, kMargin = 0.1;

}  // namespace

Json recorded_names(const Model& model, const HeadChoice& choice) {
  Json named_at;
  vector<HeadName> heads;
  for (const Frame& frame : read_frames(run_of_checkpoint(model.folder), model.state.step).frames)
    if (frame.heads) {
      named_at = frame.step;
      heads = *frame.heads;
    }
  erase_if(heads, [&](const HeadName& h) { return !choice.has(h.kind, h.layer, h.head); });
  return {{"named_at", named_at},
          {"held_out", model.config.data.has_validation()},
          {"head_names", heads}};
}

HeadProbe::HeadProbe(const Transformer& model, const Tokenizers& tokenizers,
                     const Objective& objective, const Split& held_out,
                     const ParamVec<float>& untrained)
    : model_(model) {
  const Tokenizer& tokenizer = *tokenizers.target;
  const ExampleList all = objective.evaluation(held_out);
  const auto add = [&](const Example& e, bool random) {
    texts_.push_back({e, input_tokens(e, tokenizers), random});
  };
  Example e;
  for (int64_t i = 0; i < min(all.count, kTexts); ++i) {
    all.get(i, e);
    for (TokenIds* ids : {&e.source, &e.target}) ids->resize(min<size_t>(ids->size(), kLongest));
    add(e, false);
  }
  for (int i = 0; i < kRandomTexts; ++i) {
    const auto repeated = [&](Side side, int vocab) {
      const int longest = min(objective.longest(side), kLongest) - 1;
      const int n = min(6 + i, longest / 2);
      TokenIds ids;
      for (int j = 0; j < 2 * n; ++j) {
        const int first = tokenizer.first_ordinary_id();
        ids.push_back(first + int(permuted(noise_key(i, Purpose::probe), vocab - first,
                                           j % n % (vocab - first))));
      }
      return objective.framed(side, ids);
    };
    e = {};
    if (model.has_encoder()) e.source = repeated(Side::source, model.source_vocab);
    if (model.has_decoder()) e.target = repeated(Side::target, model.target_vocab);
    if (model.has_encoder() && e.source.empty()) break;  // it reads one token at a time
    add(e, true);
  }
  untrained_ = score(untrained);
}

HeadProbe::Scores HeadProbe::score(const ParamVec<float>& values) const {
  Scores scores;
  Workspace workspace;
  for (const Text& text : texts_)
    for_heads(attention_maps(model_, values, text.read, workspace), {},
              [&](const AttentionMap& map, int layer, int head) {
                if (map.kind == AttentionKind::cross) return;
                const Tokens tokens = keys_of(text.tokens, map.kind);
                for (int p = 0; p < ssize(kPatterns); ++p) {
                  const Pattern& pattern = kPatterns[p];
                  if (*pattern.name == '\0' || pattern.random != text.random) continue;
                  const Mat<const float> weights = map.head(layer, head);
                  const auto sums = pattern_sums(
                      map.kind, weights, 0, weights.cols,
                      [&](int i, int j) { return pattern.points(tokens, tokens, i, j); });
                  if (sums.rows > 0) scores[{p, map.kind, layer, head}].push_back(sums);
                }
              });
  return scores;
}

vector<HeadName> HeadProbe::names(const ParamVec<float>& trained) const {
  vector<HeadName> names;
  Pool alone(1);
  for (const auto& [of, texts] : score(trained)) {
    double weight = 0, untrained = 0, even = 0, rows = 0;
    System above_untrained, above_even;
    for (size_t i = 0; i < texts.size(); ++i) {
      const PatternSums &is = texts[i], &was = untrained_.at(of)[i];
      weight += is.weight;
      untrained += was.weight;
      even += is.even;
      rows += is.rows;
      above_untrained.push_back({is.weight - was.weight, is.rows});
      above_even.push_back({is.weight - is.even, is.rows});
    }
    const auto beats = [&](const System& units) {
      return interval_of(units, figure("loss"), alone).low >= kMargin;
    };
    // NaN beats nothing.
    if (!(weight / rows >= kLeastScore) || !beats(above_untrained) || !beats(above_even)) continue;
    const auto& [pattern, kind, layer, head] = of;
    // A float's digits are enough.
    const HeadName found{attention_name(kind),
                         layer,
                         head,
                         kPatterns[pattern].name,
                         float(weight / rows),
                         float(untrained / rows),
                         float(even / rows)};
    const auto same_head = ranges::find_if(names, [&](const HeadName& n) {
      return n.kind == found.kind && n.layer == found.layer && n.head == found.head;
    });
    if (same_head == names.end())
      names.push_back(found);
    else if (found.score - found.shuffled > same_head->score - same_head->shuffled)
      *same_head = found;
  }
  return names;
}

}  // namespace heed
