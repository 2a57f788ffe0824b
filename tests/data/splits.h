// Small configs and corpora shared by the tests of training.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/objective.h"

namespace heed {

inline constexpr int kBos = Tokenizer::kBos, kEos = Tokenizer::kEos;

// As load_config(), of a text.
inline RunConfig parse_config(std::string_view text, const std::string& name,
                              const GivenKeys& given) {
  return resolved(changed(changed({}, parse_keys(text, name)), given));
}

// {"data": ...} of a text or of pairs, with further keys set.
inline RunConfig text_config(std::vector<std::string> sets) {
  return parse_config(R"({"data": {"train": "a.txt"}})", "test", read_sets(sets));
}
inline RunConfig causal_config(std::vector<std::string> sets = {}) {
  sets.insert(sets.begin(), {"objective.type=causal_lm", "model.encoder_layers=0"});
  return text_config(sets);
}
inline RunConfig masked_config(std::vector<std::string> sets = {}) {
  sets.insert(sets.begin(), {"objective.type=masked_lm", "model.decoder_layers=0"});
  return text_config(sets);
}
inline RunConfig pairs_config(std::vector<std::string> sets = {}) {
  return parse_config(R"({"data": {"pairs": "a.tsv"}, "objective": {"type": "seq2seq"}})", "test",
                      read_sets(sets));
}
inline std::string key_is(const std::string& key, long long value) {
  return key + "=" + std::to_string(value);
}

// Ids first, first + 1, ...: every token of the text is different.
inline Split counting_text(int n, int first = 10) {
  Split s(first + n, first + n);
  for (int i = 0; i < n; ++i) s.target.push_back(first + i);
  return s;
}

using Sentence = std::vector<int>;
inline Split sentence_pairs(const std::vector<std::pair<Sentence, Sentence>>& pairs) {
  Split s(1000, 1000);
  s.source_begin = s.target_begin = {0};
  for (const auto& [source, target] : pairs) {
    for (int id : source) s.source.push_back(id);
    for (int id : target) s.target.push_back(id);
    s.source_begin.push_back(s.source.size());
    s.target_begin.push_back(s.target.size());
  }
  return s;
}

// Pairs of 1 to 9 tokens per side; the source identifies the pair.
inline Split numbered_pairs(int n) {
  std::vector<std::pair<Sentence, Sentence>> pairs;
  for (int i = 0; i < n; ++i)
    pairs.push_back({Sentence(1 + i * 7 % 9, 100 + i), Sentence(1 + i * 5 % 9, 500 + i)});
  return sentence_pairs(pairs);
}

// A split under the objective of a config.
struct Examples {
  Examples(const Split& s, const RunConfig& c) : split(s), objective(make_objective(c)) {}
  std::int64_t count(std::int64_t epoch) const { return objective->count(split, epoch); }
  ExampleList evaluation() const { return objective->evaluation(split); }

  const Split& split;
  std::unique_ptr<const Objective> objective;
};

inline Example example(const Examples& examples, std::int64_t epoch, std::int64_t index) {
  Example e;
  examples.objective->example(examples.split, epoch, index, e);
  return e;
}

}  // namespace heed
