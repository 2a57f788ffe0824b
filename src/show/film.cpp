#include "show/film.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/format.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "evaluate/scorer.h"
#include "evaluate/writing.h"
#include "show/head_words.h"
#include "show/learning_record.h"
#include "show/page.h"
#include "show/pull.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr int kMostTokens = 28, kFewestTokens = 6;  // shown, on each side
constexpr int kSideColumns = 24;                    // of a sample of pairs
constexpr int kFrameWeights = 12'600;               // 16 heads of 28 x 28
constexpr int kMostFrameWeights = 32 << 10;         // so that a film stays below 16 MiB
constexpr int kMostWritten = 60, kFewestWritten = 24;
constexpr double kTemperature = 0.7;
// A token that is written reads all weights for itself and takes about as long as this many in a
// batch that is trained on. A text then takes at most half a step of one thread, unless steps are
// very short.
constexpr int kWrittenCost = 8;

int frame_weights(const ModelConfig& c, int tokens) {
  const int kinds = c.encoder_layers + c.decoder_layers * (c.encoder_layers > 0 ? 2 : 1);
  return kinds * c.n_heads * tokens * tokens;
}

}  // namespace

bool is_frame(int64_t step, bool validated, int64_t last) {
  const auto power = int64_t(std::bit_floor(uint64_t(step)));
  const int64_t quarter = max<int64_t>(1, power / 4);
  return step > last && (step == power || (validated && step / quarter > last / quarter));
}

Film::Film(const RunConfig& config, const Transformer& model, const Tokenizers& tokenizers,
           const Dataset& data, const TokenIds& prompt)
    : model_(model),
      tokenizers_(tokenizers),
      written_(clamp(config.train.batch_tokens / (2 * kWrittenCost), kFewestWritten, kMostWritten)),
      with_maps_(frame_weights(config.model, kFewestTokens) <= kMostFrameWeights),
      objective_(make_objective(config)),
      split_(config.data.has_validation() ? data.valid : data.train) {
  if (objective_->evaluation(split_).count == 0) return;
  int n = kMostTokens;
  while (n > kFewestTokens && frame_weights(config.model, n) > kFrameWeights) --n;
  question_ = prompt.empty() ? objective_->question(
                                   split_, chosen_prompt(data, *tokenizers.target, *objective_, n),
                                   n, written_)
                             : objective_->question_on(prompt);
  Example& read = question_.read;
  for (TokenIds* ids : {&read.source, &read.target, &read.labels})
    ids->resize(min<size_t>(ids->size(), n));
}

void Film::began_with(const ParamVec<float>& initial) {
  if (!with_maps_ || empty()) return;
  heads_.emplace(model_, tokenizers_, *objective_, split_, initial);
}

Probe Film::probe() const {
  Probe probe;
  const InputTokens tokens = input_tokens(question_.read, tokenizers_);
  const AttentionMaps maps = empty_maps(model_, question_.read);
  for (const AttentionMap& map : maps)
    if (!map.empty())
      probe.kinds.push_back({attention_name(map.kind), map.layers, map.heads,
                             queries_of(tokens, map.kind), keys_of(tokens, map.kind)});
  for (const TokenIds& ids : question_.prompts)
    probe.prompts.push_back(shown(ids, tokenizers_.source(), " "));
  for (const TokenIds& ids : question_.expected) probe.expected.push_back(shown_answer(ids));
  if (const int last = question_.read.labels.back(); model_.has_decoder() && last >= 0)
    probe.follows = tokenizers_.target->piece(last);
  return probe;
}

FilmedFrame Film::frame(Frame known, const Predictor& predictor) const {
  const ParamVec<float>& values = predictor.values;
  Workspace workspace;
  const AttentionMaps maps = attention_maps(model_, values, question_.read, workspace);
  FilmedFrame filmed{std::move(known), {}};
  Frame& frame = filmed.frame;
  Pool alone(1);
  const auto odds = label_odds(predictor, {question_.read}, alone, -1).front();
  double loss = 0;
  for (const TokenOdds& token : odds) loss -= token.log_probability;
  frame.probe_loss = loss / double(odds.size());  // NaN where no label is shown
  for (size_t i = 0; i < question_.prompts.size(); ++i) {
    const TokenIds ids = written(predictor, i);
    if (i == shown_prompt()) filmed.sample = as_sample(ids);
    if (objective_->fills()) frame.filled = completed(ids, "›", "‹");
    frame.written.push_back(shown_answer(ids));
  }
  if (with_maps_) add_maps(values, maps, frame);
  if (heads_) frame.heads = heads_->names(values);
  frame.entropy = entropy_of(maps);
  return filmed;
}

// Of each kind the weights, what its heads do in words and, where the piece has a loss, its pull.
void Film::add_maps(const ParamVec<float>& values, const AttentionMaps& maps, Frame& frame) const {
  if (isfinite(frame.probe_loss)) frame.pull = packed_pulls(model_, values, question_.read);
  frame.words.emplace();
  for (const AttentionMap& map : maps) {
    if (map.empty()) continue;
    vector<unsigned char> bytes;
    for (const float w : map.weights) bytes.push_back(uint8_t(std::lround(255 * sqrt(w))));
    frame.weights.push_back(base64(bytes));
    const auto heads =
        heads_in_words(input_tokens(question_.read, tokenizers_), maps, {attention_name(map.kind)});
    KindInWords& words = frame.words->emplace_back();
    words.first = &clearest_head(heads) - heads.data();
    for (const HeadInWords& head : heads) words.heads.push_back(head.sentence());
  }
}

// Token by token, special ones too, where masks are filled in.
string Film::shown(const TokenIds& ids, const Tokenizer& tokenizer, const char* between) const {
  return objective_->fills() ? joined(tokenizer.pieces(ids), between) : tokenizer.decode(ids);
}

string Film::shown_answer(const TokenIds& ids) const {
  return shown(ids, *tokenizers_.target, model_.has_decoder() ? " " : ", ");
}

// Without a decoder: the most probable word for each mask.
TokenIds Film::written(const Predictor& predictor, size_t prompt) const {
  const Tokenizer& target = *tokenizers_.target;
  if (model_.has_decoder()) {
    const bool continues = objective_->continues();
    // An answer that is far longer than the right one is wrong whatever follows.
    const int right = int(question_.expected[prompt].size()),
              answer = min({kMostWritten, objective_->longest(Side::target) - 1,
                            right > 0 ? 2 * right + 4 : kMostWritten});
    return generate(predictor, *objective_, target, question_.prompts[prompt],
                    continues ? written_ : answer, continues ? kTemperature : 0);
  }
  return mapped(fill(predictor, *objective_, target, question_.prompts[prompt], 1),
                [](const auto& best) { return best.front().ids[0]; });
}

// The first prompt with its masks filled in: "the ›fox‹ saw".
string Film::completed(const TokenIds& ids, const char* open, const char* close) const {
  const Tokenizer& target = *tokenizers_.target;
  string out;
  int last = -1;
  const auto add = [&](int id) {
    out += target.text_after(last, id);
    if (!target.is_special(id)) last = id;
  };
  auto next = ids.begin();
  for (const int id : question_.prompts[0]) {
    if (!objective_->is_mask(id)) {
      add(id);
      continue;
    }
    const size_t begin = out.size();
    if (!model_.has_decoder())
      add(*next++);
    else if (next = ranges::find(ids, id); next != ids.end())
      while (++next != ids.end() && !objective_->is_mask(*next)) add(*next);
    const bool spaced = out.size() > begin + 1 && out[begin] == ' ';
    out.insert(begin + spaced, open);
    out += close;
  }
  return out;
}

string Film::prompt() const {
  const TokenIds& ids = question_.prompts[shown_prompt()];
  return string(stripped(tokenizers_.source().decode(ids, objective_->fills())));
}

// What is written, as text: up to the end of a word, where it has spaces; of a held-out pair beside
// its source and its reference.
string Film::as_sample(const TokenIds& ids) const {
  const string text =
      objective_->fills() ? completed(ids, "", "") : tokenizers_.target->decode(ids);
  const bool cut = objective_->continues() || objective_->fills();
  if (cut) return string(stripped(whole_words(text, text.size())));
  const TokenIds& expected = question_.expected[shown_prompt()];
  if (expected.empty()) return text;
  return fmt::format("{} -> {} ({})", shortened(prompt(), kSideColumns), text,
                     shortened(tokenizers_.target->decode(expected), kSideColumns));
}

double film_memory(const ParamTable& table) {
  const auto recorded = double(recorded_size(table)), all = double(table.size());
  return sizeof(float) * (max(2 * recorded, all) + all);
}

}  // namespace heed
