// seq2seq: pairs of lines. The encoder reads the source and </s>, the decoder writes the target and
// </s>, starting from <s>. What it writes is one line.
#pragma once

#include <algorithm>

#include "data/objective.h"

namespace heed {

class Seq2Seq final : public Objective {
 public:
  explicit Seq2Seq(const RunConfig& c)
      : Objective(
            c, {.longest_source = longest_of(c),
                .longest_target = longest_of(c),
                .trained_on = c.model.positions != Positions::learned ? c.data.max_length + 1 : 0,
                .use = &kTranslates,
                .scored_given = Given::source}) {}

  std::int64_t count(const Split& split, std::int64_t) const override {
    return static_cast<std::int64_t>(split.sentences());
  }

  TokenIds framed_source(TokenIds tokens) const override {
    tokens.push_back(Tokenizer::kEos);
    return tokens;
  }

  ScoredLine score(const TokenIds& source, const TokenIds& line, int) const override {
    Example e{source, {}, line};
    frame(e);
    return {e.source, e.labels, {e}};
  }

  // Nothing that would end the line is written, either.
  TokenIds never_written(const Tokenizer& tokenizer) const override {
    TokenIds never = Objective::never_written(tokenizer);
    for (int id = tokenizer.first_ordinary_id(); id < tokenizer.size(); ++id)
      if (tokenizer.text_after(-1, id).find_first_of("\n\r") != std::string::npos)
        never.push_back(id);
    return never;
  }

  Question question(const Split& split, int, int) const override {
    constexpr std::int64_t kPairs = 4;  // to translate
    const ExampleList list = evaluation(split);
    Question q;
    for (std::int64_t i = 0; i < std::min(list.count, kPairs); ++i) {
      Example e;
      list.get(i, e);
      if (i < 2) q.read = e;  // the second, as for a text
      e.source.pop_back();
      e.labels.pop_back();
      q.prompts.push_back(e.source);
      q.expected.push_back(e.labels);
    }
    return q;
  }

 private:
  // As long as training needs; longer if the model reads more.
  static int longest_of(const RunConfig& c) {
    return std::max(c.model.max_length, c.data.max_length + 1);
  }

  // Around the tokens of the source and the labels.
  void frame(Example& e) const {
    e.source = framed_source(std::move(e.source));
    e.target.push_back(Tokenizer::kBos);
    e.target.insert(e.target.end(), e.labels.begin(), e.labels.end());
    e.labels.push_back(Tokenizer::kEos);
  }

  void build(const Split& split, std::int64_t, std::int64_t i, Example& out) const override {
    split.source.copy(split.source_begin[i], split.source_begin[i + 1], out.source);
    split.target.copy(split.target_begin[i], split.target_begin[i + 1], out.labels);
    frame(out);
  }
};

}  // namespace heed
