#include "show/pull.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "data/user_text.h"
#include "show/head_words.h"
#include "show/page.h"
#include "text/piece_model.h"
#include "text/utf8.h"

namespace heed {
namespace {

template <class T>
class PullRecorder : public Observer<T> {
 public:
  explicit PullRecorder(AttentionMaps& maps) : maps_(maps) {}

  // With x_j = g . (v_j - v_top), where top has the largest weight, g . (v_j - o) = x_j - sum P x.
  // Nothing cancels then where one weight is almost 1.
  void on_head_gradient(const Attention& a, int number, const AttentionHead<T>& head,
                        Mat<const T> gradient) override {
    AttentionMap& map = maps_[size_t(a.kind)];
    const Mat<double> to{map.pull.data() + map.begin(a.layer, number), map.queries, map.keys};
    vector<double> x(to.cols);
    for (int i = 0; i < to.rows; ++i) {
      const T *p = head.p.row(i), *g = gradient.row(i);
      const T* top = head.v.row(int(std::max_element(p, p + to.cols) - p));
      double mean = 0;
      for (int j = 0; j < to.cols; ++j) {
        const T* v = head.v.row(j);
        x[j] = 0;
        for (int c = 0; c < a.d_head(); ++c) x[j] += g[c] * (double(v[c]) - top[c]);
        mean += p[j] * x[j];
      }
      for (int j = 0; j < to.cols; ++j) to(i, j) = p[j] > 0 ? p[j] * (mean - x[j]) : 0;
    }
    if (map.value_gradient.empty()) return;
    const int width = a.d_head(), shared = a.layer * a.n_kv_heads + a.kv_head(number);
    double* of_values = map.value_gradient.data() + ptrdiff_t(shared) * to.cols * width;
    const Mat<double> sums(of_values, to.cols, width);
    for (int i = 0; i < to.rows; ++i)  // dL/dv_j += P_ij g_i
      for (int j = 0; j < to.cols; ++j)
        for (int c = 0; c < width; ++c) sums(j, c) += double(head.p(i, j)) * gradient(i, c);
  }

 private:
  AttentionMaps& maps_;
};

}  // namespace

template <class T>
void add_pull(const Transformer& model, const ParamVec<T>& values, const Example& read,
              Workspace& workspace, AttentionMaps& maps) {
  for (AttentionMap& map : maps) map.pull.assign(map.weights.size(), 0);
  Batch batch;
  batch.add(read);
  PullRecorder<T> recorder(maps);
  ParamVec<T> gradients(values.size());
  Pass<T> pass{
      .values = values, .workspace = workspace, .gradients = &gradients, .observer = &recorder};
  TransformerSaved<T> saved;
  train_micro_batch(model, pass, batch, {}, saved);
}

template void add_pull(const Transformer&, const ParamVec<float>&, const Example&, Workspace&,
                       AttentionMaps&);
template void add_pull(const Transformer&, const ParamVec<double>&, const Example&, Workspace&,
                       AttentionMaps&);

vector<PackedPull> packed_pulls(const Transformer& model, const ParamVec<float>& values,
                                const Example& read) {
  AttentionMaps maps = empty_maps(model, read);
  Workspace workspace;
  add_pull(model, values, read, workspace, maps);
  vector<PackedPull> packed;
  for (const AttentionMap& map : maps) {
    if (map.empty()) continue;
    double largest = 0;
    for (const double x : map.pull) largest = max(largest, abs(x));
    vector<unsigned char> bytes;
    for (const double x : map.pull) {
      const double root = largest > 0 ? sqrt(abs(x) / largest) : 0;
      bytes.push_back(uint8_t(128 + std::lround(std::copysign(127 * root, x))));
    }
    packed.push_back({float(largest), base64(bytes)});
  }
  return packed;
}

Json pulls_of_row(const Transformer& model, const ParamVec<double>& values, const Example& read,
                  int row) {
  AttentionMaps maps = empty_maps(model, read);
  const int width = model.config.d_model / model.config.n_heads, kv = kv_heads(model.config);
  for (AttentionMap& map : maps)
    map.value_gradient.resize(size_t(map.layers) * kv * map.keys * width);
  Workspace workspace;
  add_pull(model, values, read, workspace, maps);
  Json heads = Json::array();
  for_heads(maps, {}, [&](const AttentionMap& map, int layer, int head) {
    if (model.has_decoder() && map.kind == AttentionKind::encoder_self) return;
    const Mat<const double> pulls = map.pulls(layer, head),
                            g(map.value_gradient.data(), map.layers * kv * map.keys, width);
    const int first = (layer * kv + head * kv / map.heads) * map.keys;
    vector<double> lengths;
    for (int j = first; j < first + map.keys; ++j)
      lengths.push_back(sqrt(std::inner_product(g.row(j), g.row(j) + width, g.row(j), 0.0)));
    heads.push_back({{"part", "head"},
                     {"kind", attention_name(map.kind)},
                     {"layer", layer},
                     {"head", head},
                     {"pull", vector(pulls.row(row), pulls.row(row) + pulls.cols)},
                     {"value_pull", lengths}});
  });
  return heads;
}

Example asked_of(const Model& model, const TokenIds& text) {
  const Objective& objective = *model.objective;
  if (objective.traits().pairs() || !objective.masks_in(text).empty())
    throw usage_error("--pull needs --target: what the model writes itself would only confirm it.");
  const int vocab = model.tokenizers.target->size();
  Split split(vocab, vocab);
  for (const int id : text) split.target.push_back(id);
  const ExampleList examples = objective.evaluation(split);
  if (examples.count != 1)
    throw usage_error("--pull: the model learns a text of {} tokens in {} parts.", text.size(),
                      examples.count)
        .hint("a shorter text, or its end as --target");
  Example read;
  examples.get(0, read);
  return read;
}

TokenIds labels_of(const Model& model, const Example& read, const string& words) {
  const Objective& objective = *model.objective;
  const Tokenizer& target = *model.tokenizers.target;
  if (objective.traits().decoder()) {
    TokenIds labels(read.target.begin() + 1, read.target.end());
    labels.push_back(objective.continues() ? -1 : Tokenizer::kEos);
    return labels;
  }
  TokenIds labels(read.source.size(), -1), answers;
  const vector<int> masks = objective.masks_in(read.source);
  if (masks.empty())
    throw usage_error(
        "--pull: the text has no [MASK], and each token in turn would be another text.")
        .hint("the text with a [MASK], and its word as --target");
  const vector<string_view> given = split_words(words);
  if (given.size() == masks.size())
    for (const string_view word : given)
      answers.push_back(one_token(string(word), "--target", target).front());
  else
    answers = target.encode(words);
  if (answers.size() != masks.size())
    throw usage_error("--target has {} words, the text has {} [MASK].", given.size(), masks.size());
  for (size_t i = 0; i < masks.size(); ++i) labels[masks[i]] = answers[i];
  return labels;
}

string draw_pull(const HeadChoice& choice, const InputTokens& tokens, const AttentionMaps& maps,
                 const HeatMapStyle& style) {
  vector<DrawnHead> heads;
  for_heads(maps, choice, [&](const AttentionMap& map, int layer, int head) {
    const Mat<const double> pulls = map.pulls(layer, head);
    const span x(pulls.data, size_t(pulls.rows) * pulls.cols);
    const auto at = ranges::max_element(x, {}, [](double pull) { return abs(pull); }) - x.begin();
    const string line =
        fmt::format("{}: most {:+.2g}, of {} to {}\n", name_of_head(map.kind, layer, head), x[at],
                    with_space_marks(queries_of(tokens, map.kind)[at / pulls.cols]),
                    with_space_marks(keys_of(tokens, map.kind)[at % pulls.cols]));
    DrawnHead& drawn = heads.emplace_back(DrawnHead{line, map.kind, {}, abs(x[at])});
    for (const double pull : x)
      drawn.numbers.push_back(float(drawn.largest > 0 ? pull / drawn.largest : 0));
  });
  const auto in_words = heads_in_words(tokens, maps, choice);
  const auto drawn = &clearest_head(in_words) - in_words.data();  // as the weights
  const char* about =
      "\nthe pull: which way the loss of this text moves each score, in nats per unit of score\n";
  return wrapped(about, style.columns, "  ") + draw_heads(choice, heads, drawn, tokens, style);
}

}  // namespace heed
