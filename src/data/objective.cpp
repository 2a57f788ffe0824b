#include "data/objective.h"

#include <algorithm>
#include <cassert>

#include <fmt/core.h>
#include "base/cgroup.h"
#include "base/error.h"
#include "base/format.h"
#include "base/noise.h"
#include "data/causal_lm.h"
#include "data/masked_lm.h"
#include "data/prefix_lm.h"
#include "data/seq2seq.h"
#include "data/span_corruption.h"

namespace heed {
namespace {

template <class T>
std::unique_ptr<const Objective> make(const RunConfig& config) {
  return std::make_unique<T>(config);
}

// Its row, or the end of the table.
auto row_of(const std::string& name) {
  return std::ranges::find(objectives(), name,
                           [](const ObjectiveKind& kind) { return kind.doc.name; });
}

}  // namespace

std::vector<ObjectiveKind>& objectives() {
  static std::vector<ObjectiveKind> kinds = {
      {{"prefix_lm",
        "the encoder reads text, the decoder writes what follows",
        {"source_length", "target_length"}},
       make<PrefixLm>},
      {{"causal_lm", "the decoder alone", {"target_length"}}, make<CausalLm>},
      {{"masked_lm", "the encoder fills in masked tokens", {"source_length", "mask_fraction"}},
       make<MaskedLm>},
      {{"seq2seq", "pairs; with encoder_layers 0 the decoder reads both sides", {}}, make<Seq2Seq>},
      {{"span_corruption",
        "the encoder reads text with sentinels in place of spans, the decoder writes the spans",
        {"source_length", "mask_fraction", "mean_span"}},
       make<SpanCorruption>},
  };
  return kinds;
}

void add_objective(ObjectiveKind kind) {
  if (row_of(kind.doc.name) != objectives().end())
    throw Error(Exit::internal, "objective " + kind.doc.name + " already exists.");
  objectives().push_back(std::move(kind));
}

std::unique_ptr<const Objective> make_objective(const RunConfig& config) {
  const auto kind = row_of(config.objective.type);
  assert(kind != objectives().end());  // reading a config has checked it
  return kind->make(config);
}

std::vector<std::string> further_specials(const RunConfig& config) {
  return make_objective(config)->traits().specials;
}

std::string objectives_on(bool pairs) {
  std::vector<std::string> names;
  for (const ObjectiveKind& kind : objectives())
    if (kind.make({})->traits().pairs() == pairs) names.push_back(kind.doc.name);
  return listed(std::move(names), "or");
}

void Objective::example(const Split& split, std::int64_t epoch, std::int64_t index,
                        Example& out) const {
  out.clear();
  std::int64_t number = index;
  if (epoch != kEvaluation)
    number = static_cast<std::int64_t>(
        permuted(noise_key(seed_, Purpose::order, epoch), count(split, epoch), index));
  build(split, epoch, number, out);
}

ExampleList Objective::evaluation(const Split& split, int stride) const {
  if (stride > 0)
    throw Error(Exit::usage,
                "windows overlap only where each token is predicted from those before it "
                "(objective.type causal_lm).",
                "heed evaluate without --stride");
  return {count(split, kEvaluation),
          [this, &split](std::int64_t i, Example& out) { example(split, kEvaluation, i, out); }};
}

void Objective::check_use(std::string_view command, const std::string& run) const {
  // `sample` works for every model that writes freely.
  if (command == use().command || (command == "sample" && !fills())) return;
  throw Error(Exit::usage,
              fmt::format("heed {} is not for this model, which takes {}.", command, use().takes),
              fmt::format("heed {} {}{}", use().command, run, fills() ? " \"[MASK]\"" : ""));
}

std::string Objective::fit(Side side, std::size_t ids, const std::string& name,
                           std::size_t at_once) const {
  // Every head has a weight for each pair of tokens.
  const double n = static_cast<double>(ids),
               needed = 4.0 * heads_ * n * n * static_cast<double>(at_once);
  constexpr double kSmall = 1 << 24;
  if (const double available = needed > kSmall ? available_memory() : needed; needed > available)
    throw Error(Exit::data,
                fmt::format("{} has {} tokens; attention over them takes {} of memory, and {} are "
                            "available.",
                            name, ids, format_bytes(needed), format_bytes(available)),
                "a shorter text");
  const bool reads_longer = traits_.trained_on > 0;
  const int most = reads_longer ? traits_.trained_on : longest(side);
  if (ids <= static_cast<std::size_t>(most)) return "";
  const std::string what =
      fmt::format("{} has {} tokens, with <s> or </s>; the model {} at most {}", name, ids,
                  reads_longer ? "was trained on" : "reads", most);
  if (reads_longer) return what + ": the result may be poor and slow";
  const char* key = traits_.pairs()        ? "data.max_length"
                    : side == Side::source ? "objective.source_length"
                                           : "objective.target_length";
  throw Error(Exit::data, what + ".",
              fmt::format("a shorter text, or a model trained with a larger {}", key));
}

TokenIds Objective::framed_target(TokenIds tokens) {
  tokens.insert(tokens.begin(), Tokenizer::kBos);
  return tokens;
}

void Objective::join(Example& pair) const {
  if (!traits_.joined) return;
  pair.target.insert(pair.target.begin() + 1, pair.source.begin(), pair.source.end());
  if (!pair.labels.empty()) pair.labels.insert(pair.labels.begin(), pair.source.size(), -1);
}

Example Objective::continued(const TokenIds& text, bool) const {
  return {framed_source(text), framed_target({})};
}

TokenIds Objective::never_written(const Tokenizer& tokenizer) const {
  TokenIds never;
  const bool writes_end = traits_.decoder() && !continues();
  for (int id = 0; id < tokenizer.first_ordinary_id(); ++id)
    if (id != Tokenizer::kEos || !writes_end) never.push_back(id);
  return never;
}

}  // namespace heed
