#include "show/head_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/noise.h"
#include "evaluate/comparison.h"
#include "store/run_folder.h"
#include "text/piece_model.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr std::int64_t kTexts = 12, kRandomTexts = 10;
constexpr int kLongest = 64;  // tokens read of a text, on each side
constexpr double kLeastScore = 0.3, kMargin = 0.1;
constexpr int kFewestRows = 3;  // of one text, for words about a head

// A text as numbers: the tokens of both sides, and what is known of them.
struct PatternInput {
  std::span<const int> queries, keys;
  const std::vector<bool>* punctuation = nullptr;  // by id of a key

  bool is_query(int j, int i) const { return i < std::ssize(queries) && keys[j] == queries[i]; }
  bool earlier_copy(int i, int j) const { return j < i && is_query(j, i); }
  bool is_punctuation(int j) const { return (*punctuation)[keys[j]]; }
};

struct HeadPattern {
  const char* name;   // over held-out text; null: it is not looked for there
  const char* words;  // in one text; null likewise
  bool (*points)(const PatternInput&, int i, int j);  // does it point query i to key j?
  bool cross = false;                                 // of cross-attention, else of self-attention
  bool random = false;                                // its name is looked for in random tokens
};
constexpr bool kCross = true, kRandom = true;
constexpr HeadPattern kPatterns[] = {
    {"previous token", "the previous token", [](auto&, int i, int j) { return j == i - 1; }},
    {"same token", "itself", [](auto&, int i, int j) { return j == i; }},
    {"first token", nullptr, [](auto&, int, int j) { return j == 0; }},
    {nullptr, "the token two back", [](auto&, int i, int j) { return j == i - 2; }},
    {nullptr, "the next token", [](auto&, int i, int j) { return j == i + 1; }},
    {"duplicate", "earlier copies of the same token",
     [](auto& in, int i, int j) { return in.earlier_copy(i, j); }},
    {"punctuation", nullptr, [](auto& in, int, int j) { return in.is_punctuation(j); }},
    {"induction", nullptr,
     [](auto& in, int i, int j) { return j > 0 && in.earlier_copy(i, j - 1); }, !kCross, kRandom},
    {nullptr, "the token after an earlier copy",
     [](auto& in, int i, int j) { return 0 < j && j < i && in.earlier_copy(i, j - 1); }},
    {nullptr, "the word it is about to write",
     [](auto& in, int i, int j) { return in.is_query(j, i + 1); }, kCross},
    {nullptr, "the token at the same position", [](auto&, int i, int j) { return j == i; }, kCross},
    {nullptr, "the mirrored position",
     [](auto& in, int i, int j) { return j == std::ssize(in.keys) - 2 - i; }, kCross}};

bool is_of(const HeadPattern& pattern, AttentionKind kind) {
  return pattern.cross == (kind == AttentionKind::cross);
}

int visible(AttentionKind kind, int query, int keys) {
  return kind == AttentionKind::decoder_self ? query + 1 : keys;
}

// Calls row(on, n, visible) for every row that sees keys to which the pattern points: the weight on
// them, how many they are, and how many the row sees.
template <class Row>
void for_rows_that_see(const HeadPattern& pattern, const PatternInput& input, AttentionKind kind,
                       Mat<const float> weights, Row&& row) {
  for (int i = 0; i < weights.rows; ++i) {
    double on = 0;
    int n = 0;
    const int seen = visible(kind, i, weights.cols);
    for (int j = 0; j < seen; ++j) {
      if (!pattern.points(input, i, j)) continue;
      ++n;
      on += weights(i, j);
    }
    if (n > 0) row(on, n, seen);
  }
}

// What weights say of a pattern, summed over rows and then their mean.
struct Share {
  std::string words;
  bool parked = false;
  double share = 0, even = 0;
  int rows = 0;

  void add(double row_share, double row_even) {
    share += row_share;
    even += row_even;
    ++rows;
  }
  Share mean() const { return {words, parked, share / rows, even / rows, rows}; }
};

// Equal tokens get equal numbers.
std::vector<int> numbered(std::span<const std::string> tokens,
                          std::map<std::string_view, int>& numbers) {
  std::vector<int> out;
  for (const std::string& token : tokens)
    out.push_back(numbers.try_emplace(token, static_cast<int>(numbers.size())).first->second);
  return out;
}

std::vector<Share> pattern_shares(AttentionKind kind, Mat<const float> weights,
                                  std::span<const std::string> queries,
                                  std::span<const std::string> keys) {
  std::map<std::string_view, int> numbers;
  const std::vector<int> query_ids = numbered(queries, numbers), key_ids = numbered(keys, numbers);
  std::vector<Share> shares;
  for (const HeadPattern& pattern : kPatterns) {
    if (pattern.words == nullptr || !is_of(pattern, kind)) continue;
    shares.push_back({pattern.words});
    Share& sum = shares.back();
    for_rows_that_see(pattern, {query_ids, key_ids}, kind, weights,
                      [&](double on, int n, int seen) {
                        if (seen > 1) sum.add(on, n * (1.0 / seen));
                      });
  }
  return shares;
}

// Of each key, in its order.
std::vector<Share> key_shares(AttentionKind kind, Mat<const float> weights,
                              std::span<const std::string> keys) {
  std::vector<Share> shares;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const char* which = k == 0                 ? "the first token"
                        : k + 1 == keys.size() ? "the last token"
                                               : "one token";
    shares.push_back({fmt::format("{}, “{}”", which, with_space_marks(keys[k])),
                      keys[k] == "<s>" || keys[k] == "</s>"});
  }
  for (int q = 0; q < weights.rows; ++q)
    if (const int seen = visible(kind, q, weights.cols); seen > 1)
      for (int k = 0; k < seen; ++k) shares[k].add(weights(q, k), 1.0 / seen);
  return shares;
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

std::string HeadInWords::sentence() const {
  if (share == 0) return pattern;
  return fmt::format("{} in this text ({}; evenly spread weights would give {:.2f})", pattern,
                     simple
                         ? fmt::format("{:.2f} of the weight in the rows that see it", share)
                         : fmt::format("the largest weight of a row is {:.2f} on average", share),
                     uniform);
}

HeadInWords head_in_words(AttentionKind kind, Mat<const float> weights,
                          std::span<const std::string> queries, std::span<const std::string> keys) {
  Share largest;
  for (int q = 0; q < weights.rows; ++q)
    if (const int seen = visible(kind, q, weights.cols); seen > 1)
      largest.add(*std::max_element(weights.row(q), weights.row(q) + seen), 1.0 / seen);
  if (largest.rows < kFewestRows) return {"too few tokens to see a pattern"};
  std::vector<Share> shares = pattern_shares(kind, weights, queries, keys);
  std::ranges::move(key_shares(kind, weights, keys), std::back_inserter(shares));
  Share best;
  for (const Share& sum : shares) {
    if (sum.rows < kFewestRows || 2 * sum.rows < largest.rows) continue;
    const Share mean = sum.mean();
    if (mean.share < 0.3 || (mean.share < 2 * mean.even && mean.share < 0.8)) continue;
    if (mean.share > best.share) best = mean;
  }
  if (best.rows > 0)
    return {fmt::format("{} {}", best.share >= 0.5 ? "mostly" : "often", best.words), true,
            best.parked, best.share, best.even};
  const Share mean = largest.mean();
  return {mean.share < 2 * mean.even ? "spread widely" : "no simple pattern", false, false,
          mean.share, mean.even};
}

PlacedHead clearest_head(const InputTokens& tokens, const AttentionMaps& maps, AttentionKind kind) {
  PlacedHead best;
  double most = -1;
  for_heads(maps, [&](AttentionKind of, const AttentionMap& map, int layer, int head) {
    if (of != kind) return;
    const HeadInWords w =
        head_in_words(kind, map.head(layer, head), queries_of(tokens, kind), keys_of(tokens, kind));
    const double clear = w.parked ? 0 : w.simple + w.share;
    if (clear > most) most = clear, best = {layer, head};
  });
  return best;
}

nlohmann::ordered_json heads_in_words(const InputTokens& tokens, const AttentionMaps& maps) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for_heads(maps, [&](AttentionKind kind, const AttentionMap& map, int layer, int head) {
    const HeadInWords w =
        head_in_words(kind, map.head(layer, head), queries_of(tokens, kind), keys_of(tokens, kind));
    list.push_back({{"kind", attention_name(kind)},
                    {"layer", map.first_layer + layer},
                    {"head", map.first_head + head},
                    {"pattern", w.pattern},
                    {"share", w.share},
                    {"uniform", w.uniform},
                    {"sentence", w.sentence()}});
  });
  return list;
}

std::vector<HeadName> known_names(const Frame& frame) {
  std::vector<HeadName> heads = frame.heads.value_or(std::vector<HeadName>());
  std::erase_if(heads, [](const HeadName& h) {
    return std::ranges::none_of(kPatterns,
                                [&](const HeadPattern& p) { return p.name && h.name == p.name; });
  });
  return heads;
}

nlohmann::ordered_json recorded_names(const Model& model, const HeadChoice& choice) {
  nlohmann::ordered_json named_at;
  std::vector<HeadName> heads;
  for (const Frame& frame : read_frames(run_of_checkpoint(model.folder), model.state.step).frames)
    if (frame.heads) {
      named_at = frame.step;
      heads = known_names(frame);
    }
  std::erase_if(heads, [&](const HeadName& h) {
    return (!choice.kind.empty() && h.kind != choice.kind) ||
           (choice.layer && h.layer != *choice.layer) || (choice.head && h.head != *choice.head);
  });
  return {{"named_at", named_at},
          {"held_out", model.config.data.has_validation()},
          {"head_names", json_of(heads)}};
}

std::string names_in_words(const nlohmann::ordered_json& recorded) {
  if (recorded["named_at"].is_null()) return "the run has no record of its heads' names\n";
  std::string out =
      fmt::format("over {} text, at step {} (weight; untrained; with the keys in random order):\n",
                  recorded["held_out"] ? "held-out" : "training", recorded["named_at"].dump());
  for (const auto& h : recorded["head_names"])
    out += fmt::format("{}, layer {}, head {}: {} ({:.2f}; {:.2f}; {:.2f})\n",
                       h["kind"].get<std::string>(), h["layer"].dump(), h["head"].dump(),
                       h["name"].get<std::string>(), h["score"].get<double>(),
                       h["untrained"].get<double>(), h["shuffled"].get<double>());
  return recorded["head_names"].empty() ? out + "no head has a name\n" : out;
}

HeadProbe::HeadProbe(const Transformer& model, const Tokenizers& tokenizers,
                     const Objective& objective, const Split& held_out)
    : model_(model),
      punctuation_{punctuation_of(tokenizers.source()), punctuation_of(*tokenizers.target)} {
  const Tokenizer& tokenizer = *tokenizers.target;
  const ExampleList all = objective.evaluation(held_out);
  for (std::int64_t i = 0; i < std::min(all.count, kTexts); ++i) {
    Text& text = texts_.emplace_back();
    all.get(i, text.read);
    for (TokenIds* ids : {&text.read.source, &text.read.target})
      ids->resize(std::min<std::size_t>(ids->size(), kLongest));
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
    texts_.push_back({e, true});
  }
}

HeadScores HeadProbe::score(const ParamVec<float>& values) const {
  HeadScores scores;
  Workspace workspace;
  for (const Text& text : texts_) {
    const AttentionMaps maps = attention_maps(model_, values, text.read, workspace);
    for_heads(maps, [&](AttentionKind kind, const AttentionMap& map, int layer, int head) {
      const PatternInput input{queries_of(text.read, kind), keys_of(text.read, kind),
                               &punctuation_[kind == AttentionKind::decoder_self]};
      for (int p = 0; p < std::ssize(kPatterns); ++p) {
        const HeadPattern& pattern = kPatterns[p];
        if (pattern.name == nullptr || pattern.random != text.random || !is_of(pattern, kind))
          continue;
        double weight = 0, even = 0, rows = 0;
        for_rows_that_see(pattern, input, kind, map.head(layer, head),
                          [&](double on, int n, int seen) {
                            if (n == seen) return;
                            weight += on;
                            even += static_cast<double>(n) / seen;
                            ++rows;
                          });
        if (rows == 0) continue;
        PatternScore& score = scores[{p, kind, layer, head}];
        score.weight.push_back(weight);
        score.even.push_back(even);
        score.rows.push_back(rows);
      }
    });
  }
  return scores;
}

std::vector<HeadName> HeadProbe::names(const HeadScores& trained,
                                       const HeadScores& untrained) const {
  std::vector<HeadName> names;
  Pool alone(1);
  for (const auto& [of, now] : trained) {
    const PatternScore& before = untrained.at(of);
    const auto beats = [&](const std::vector<double>& control) {
      System texts;
      for (std::size_t i = 0; i < control.size(); ++i)
        texts.push_back({now.weight[i] - control[i], now.rows[i]});
      return interval_of(texts, figure("loss"), alone).low >= kMargin;  // false for NaN
    };
    const double rows = sum_of_all(now.rows), score = sum_of_all(now.weight) / rows;
    if (!(score >= kLeastScore) || !beats(before.weight) || !beats(now.even)) continue;
    // A float's digits are enough.
    const HeadName found{attention_name(of.kind),
                         of.layer,
                         of.head,
                         kPatterns[of.pattern].name,
                         static_cast<float>(score),
                         static_cast<float>(sum_of_all(before.weight) / rows),
                         static_cast<float>(sum_of_all(now.even) / rows)};
    const auto known = std::ranges::find_if(names, [&](const HeadName& n) {
      return n.kind == found.kind && n.layer == of.layer && n.head == of.head;
    });
    if (known == names.end())
      names.push_back(found);
    else if (found.score - found.shuffled > known->score - known->shuffled)
      *known = found;
  }
  return names;
}

}  // namespace heed
