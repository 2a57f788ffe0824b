// seq2seq: pairs of lines. The encoder reads the source and </s>, the decoder writes the target and
// </s>, starting from <s>. Without an encoder the decoder reads <s>, the source, </s> and the
// target, as a GPT reads a text, and learns the same labels. What it writes is one line.
#pragma once

#include <algorithm>

#include "data/objective.h"

namespace heed {

class Seq2Seq final : public Objective {
 public:
  explicit Seq2Seq(const RunConfig& c)
      : Objective(c, {.longest_source = longest_of(c) - joins(c),
                      .longest_target = longest_of(c),
                      .trained_on = c.model.positions != Positions::learned ? most_learnt(c) : 0,
                      .joined = joins(c),
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
    TokenIds ids = line;
    ids.push_back(Tokenizer::kEos);
    return {framed_source(source), ids, {framed_pair({source, {}, line})}};
  }

  // Nothing that would end the line is written, either.
  TokenIds never_written(const Tokenizer& tokenizer) const override {
    TokenIds never = Objective::never_written(tokenizer);
    for (int id = tokenizer.first_ordinary_id(); id < tokenizer.size(); ++id)
      if (tokenizer.text_after(-1, id).find_first_of("\n\r") != std::string::npos)
        never.push_back(id);
    return never;
  }

  // The second of four pairs is read, as of a text; if they are joined, one that can be shown
  // whole.
  Question question(const Split& split, int shown, int) const override {
    const ExampleList list = evaluation(split);
    Question q;
    std::int64_t first = -1;
    do list.get(std::min(++first + 1, list.count - 1), q.read);
    while (traits().joined && q.read.tokens() > shown && first + 4 < list.count);
    for (std::int64_t i = first; i < std::min(list.count, first + 4); ++i) {
      q.prompts.push_back(split.sentence(Side::source, i));
      q.expected.push_back(split.sentence(Side::target, i));
    }
    return q;
  }

 private:
  static bool joins(const RunConfig& c) { return c.model.encoder_layers == 0; }
  static int most_learnt(const RunConfig& c) { return (1 + joins(c)) * (c.data.max_length + 1); }
  // As long as training needs; longer if the model reads more.
  static int longest_of(const RunConfig& c) { return std::max(c.model.max_length, most_learnt(c)); }

  // Around the tokens of the source and the labels.
  Example framed_pair(Example e) const {
    e.source = framed_source(std::move(e.source));
    e.target = framed_target(e.labels);
    e.labels.push_back(Tokenizer::kEos);
    join(e);
    if (traits().joined) e.source.clear();  // the decoder reads it
    return e;
  }

  void build(const Split& split, std::int64_t, std::int64_t i, Example& out) const override {
    out = framed_pair({split.sentence(Side::source, i), {}, split.sentence(Side::target, i)});
  }
};

}  // namespace heed
