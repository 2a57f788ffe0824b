#include "show/head_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/noise.h"
#include "show/ablation.h"
#include "store/run_folder.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr std::int64_t kTexts = 12, kRandomTexts = 10, kAlignedTexts = 200;
constexpr int kLongest = 64;  // tokens read of a text, on each side
constexpr double kLeastScore = 0.3, kMargin = 0.1;

// What a pattern sees: the tokens of both sides, and what is known of them.
struct Sight {
  const TokenIds &queries, &keys;
  const std::vector<bool>& punctuation;  // by id of a key
  const std::vector<int>& aligned;

  bool earlier_copy(int i, int j) const { return j < i && keys[j] == queries[i]; }
};

struct NamedPattern {
  const char* name;
  bool cross, random;  // of cross-attention, else of self-attention; on random tokens
  bool (*points)(const Sight&, int i, int j);
};
constexpr NamedPattern kPatterns[] = {
    {"previous token", false, false, [](const Sight&, int i, int j) { return j == i - 1; }},
    {"same token", false, false, [](const Sight&, int i, int j) { return j == i; }},
    {"first token", false, false, [](const Sight&, int, int j) { return j == 0; }},
    {"duplicate", false, false, [](const Sight& s, int i, int j) { return s.earlier_copy(i, j); }},
    {"punctuation", false, false,
     [](const Sight& s, int, int j) { return bool{s.punctuation[s.keys[j]]}; }},
    {"induction", false, true,
     [](const Sight& s, int i, int j) { return j > 0 && s.earlier_copy(i, j - 1); }},
    {"alignment", true, false, [](const Sight& s, int i, int j) {
       return s.aligned[i] >= 0 && s.keys[j] == s.keys[s.aligned[i]];
     }}};

// t(label | source token) of IBM's model 1, by five steps of EM (Brown et al. 1993).
std::map<std::pair<int, int>, double> translations(const std::vector<Example>& pairs) {
  std::map<std::pair<int, int>, double> t;
  for (int step = 0; step < 6; ++step) {
    std::map<std::pair<int, int>, double> counts;
    std::map<int, double> totals;
    for (const Example& e : pairs)
      for (const int label : e.labels) {
        double sum = 0;
        for (const int s : e.source) sum += step == 0 ? 1 : t[{s, label}];
        for (const int s : e.source) {
          const double share = (step == 0 ? 1 : t[{s, label}]) / sum;
          counts[{s, label}] += share;
          totals[s] += share;
        }
      }
    for (auto& [pair, count] : counts) t[pair] = count / totals[pair.first];
  }
  return t;
}

// Which ids are punctuation, a space before it or not.
std::vector<bool> punctuation_of(const Tokenizer& tokenizer) {
  std::vector<bool> is(tokenizer.size());
  for (int id = tokenizer.first_ordinary_id(); id < tokenizer.size(); ++id) {
    std::string piece = tokenizer.piece(id);
    if (piece.size() > 1 && piece[0] == ' ') piece.erase(0, 1);
    is[id] = !piece.empty();
    each_code_point(piece,
                    [&](CodePoint c, std::size_t) { is[id] = is[id] && is_punctuation(c.value); });
  }
  return is;
}

double sum_of_all(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0);
}

}  // namespace

RecordedNames recorded_names(const TrainedModel& model, const HeadChoice& choice) {
  RecordedNames names{{}, model.config.data.has_validation(), {}};
  for (Frame& frame : read_frames(run_of_checkpoint(model.folder), model.state.step).frames)
    if (frame.heads) {
      names.named_at = frame.step;
      names.heads = std::move(*frame.heads);
    }
  std::erase_if(names.heads, [&](const HeadName& h) {
    return (!choice.kind.empty() && h.kind != choice.kind) ||
           (choice.layer && h.layer != *choice.layer) || (choice.head && h.head != *choice.head);
  });
  return names;
}

nlohmann::ordered_json json_of(const RecordedNames& names) {
  const nlohmann::ordered_json none;
  return {{"named_at", names.named_at ? nlohmann::ordered_json(*names.named_at) : none},
          {"held_out", names.held_out},
          {"head_names", json_of(names.heads)}};
}

std::string in_words(const RecordedNames& names) {
  if (!names.named_at) return "the run has no record of its heads' names\n";
  std::string out =
      fmt::format("over {} text, at step {} (weight; untrained; with the keys in random order):\n",
                  names.held_out ? "held-out" : "training", *names.named_at);
  for (const HeadName& h : names.heads)
    out += fmt::format("{}, layer {}, head {}: {} ({:.2f}; {:.2f}; {:.2f})\n", h.kind, h.layer,
                       h.head, h.name, h.score, h.untrained, h.shuffled);
  return names.heads.empty() ? out + "no head has a name\n" : out;
}

HeadProbe::HeadProbe(const Transformer& model, const Tokenizers& tokenizers,
                     const Objective& objective, const Split& held_out)
    : model_(model),
      punctuation_{punctuation_of(tokenizers.source()), punctuation_of(*tokenizers.target)} {
  const Tokenizer& tokenizer = *tokenizers.target;
  const ExampleList all = objective.evaluation(held_out);
  std::vector<Example> pairs(std::min(all.count, kAlignedTexts));
  for (std::size_t i = 0; i < pairs.size(); ++i) all.get(static_cast<std::int64_t>(i), pairs[i]);
  std::map<std::pair<int, int>, double> t;
  if (objective.traits().pairs()) t = translations(pairs);
  for (std::int64_t i = 0; i < std::min(all.count, kTexts); ++i) {
    Text text{pairs[i], false, {}};
    for (TokenIds* ids : {&text.read.source, &text.read.target, &text.read.labels})
      ids->resize(std::min<std::size_t>(ids->size(), kLongest));
    for (const int label : text.read.labels) {
      const auto likelier = [&](int a, int b) { return t[{a, label}] < t[{b, label}]; };
      const TokenIds& source = text.read.source;
      text.aligned.push_back(
          t.empty()
              ? -1
              : static_cast<int>(std::ranges::max_element(source, likelier) - source.begin()));
    }
    texts_.push_back(std::move(text));
  }
  for (int i = 0; i < kRandomTexts; ++i) {
    const auto repeated = [&](Side side, int vocab) {
      const int longest = std::min(objective.longest(side), kLongest) - 1;
      const int n = std::min(6 + i, longest / 2);
      TokenIds ids;
      for (int j = 0; j < 2 * n; ++j) {
        const int first = tokenizer.first_ordinary_id();
        ids.push_back(first + static_cast<int>(permuted(noise_key(i, Purpose::probe), vocab - first,
                                                        j % n % (vocab - first))));
      }
      return objective.framed(side, ids);
    };
    Example e;
    if (model.has_encoder()) e.source = repeated(Side::source, model.source_vocab);
    if (model.has_decoder()) e.target = repeated(Side::target, model.target_vocab);
    if (model.has_encoder() && e.source.empty()) break;  // it reads one token at a time
    texts_.push_back({e, true, {}});
  }
}

std::size_t HeadProbe::tokens() const {
  std::size_t sum = 0;
  for (const Text& text : texts_) sum += text.read.tokens();
  return sum;
}

HeadScores HeadProbe::score(const ParamVec<float>& values) const {
  HeadScores scores;
  Workspace workspace;
  for (std::size_t n = 0; n < texts_.size(); ++n) {
    const Text& text = texts_[n];
    const AttentionMaps maps = attention_maps(model_, values, text.read, workspace);
    std::size_t at = 0;
    for (const NamedPattern& pattern : kPatterns)
      for (const AttentionKind kind : kAttentionKinds) {
        const AttentionMap& map = map_of(maps, kind);
        const std::size_t heads = static_cast<std::size_t>(map.layers) * map.heads;
        scores.resize(std::max(scores.size(), at + heads));
        const Sight sight{queries_of(text.read, kind), keys_of(text.read, kind),
                          punctuation_[kind == AttentionKind::decoder_self], text.aligned};
        const bool applies =
            pattern.random == text.random && pattern.cross == (kind == AttentionKind::cross);
        for (std::size_t h = 0; h < heads; ++h, ++at) {
          double weight = 0, even = 0, rows = 0;
          for (int i = 0; applies && i < map.queries; ++i) {
            const int visible = kind == AttentionKind::decoder_self ? i + 1 : map.keys;
            double on = 0;
            int keys = 0;
            for (int j = 0; j < visible; ++j) {
              if (!pattern.points(sight, i, j)) continue;
              ++keys;
              on += map.weights[(h * map.queries + i) * map.keys + j];
            }
            if (keys == 0 || keys == visible) continue;
            weight += on;
            even += static_cast<double>(keys) / visible;
            ++rows;
          }
          if (rows == 0) continue;
          scores[at].weight.push_back(weight);
          scores[at].even.push_back(even);
          scores[at].rows.push_back(rows);
        }
      }
  }
  return scores;
}

std::vector<HeadName> HeadProbe::names(const HeadScores& trained,
                                       const HeadScores& untrained) const {
  std::vector<HeadName> names;
  std::size_t at = 0;
  const AttentionMaps shapes = empty_maps(model_, {});
  for (const NamedPattern& pattern : kPatterns)
    for (const AttentionKind kind : kAttentionKinds) {
      const AttentionMap& map = map_of(shapes, kind);
      for (int layer = 0; layer < map.layers; ++layer)
        for (int head = 0; head < map.heads; ++head, ++at) {
          const PatternScore &now = trained[at], &before = untrained[at];
          const auto beats = [&](const std::vector<double>& control) {
            std::vector<double> d(control.size());
            std::ranges::transform(now.weight, control, d.begin(), std::minus());
            return interval(d, now.rows, 0).first >= kMargin;  // false for NaN
          };
          const double rows = sum_of_all(now.rows), score = sum_of_all(now.weight) / rows;
          if (!(score >= kLeastScore) || !beats(before.weight) || !beats(now.even)) continue;
          // A float's digits are enough.
          const HeadName found{attention_name(kind),
                               layer,
                               head,
                               pattern.name,
                               static_cast<float>(score),
                               static_cast<float>(sum_of_all(before.weight) / rows),
                               static_cast<float>(sum_of_all(now.even) / rows)};
          const auto known = std::ranges::find_if(names, [&](const HeadName& n) {
            return n.kind == found.kind && n.layer == layer && n.head == head;
          });
          if (known == names.end())
            names.push_back(found);
          else if (found.score - found.shuffled > known->score - known->shuffled)
            *known = found;
        }
    }
  return names;
}

}  // namespace heed
