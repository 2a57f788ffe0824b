#include "evaluate/yardsticks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "data/splits.h"
#include "text/tokenizer_trainer.h"

namespace heed {
namespace {

// Short lines of a few letters: a text, and pairs.
std::string text_of(int lines, int seed) {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    for (int j = 0; j < 3 + (i * seed) % 7; ++j)
      text += static_cast<char>('a' + (i * i + j * seed) % 5);
    text += i % 3 == 0 ? "\n" : " ";
  }
  return text;
}

struct Corpus {
  RunConfig config;
  std::unique_ptr<const Objective> objective = make_objective(config);
  std::unique_ptr<Tokenizer> tokenizer;
  Split train, held_out;

  explicit Corpus(RunConfig c, const std::string& first = text_of(200, 3),
                  const std::string& second = text_of(40, 5))
      : config(std::move(c)) {
    config.tokenizer.type = TokenizerConfig::char_;
    TokenizerTrainer trainer(config.tokenizer, objective->traits().specials, 1);
    trainer.add(text_of(200, 3));
    tokenizer = trainer.finish().tokenizer;
    train = split(first);
    held_out = split(second);
  }

  Split split(const std::string& text) const {
    Split s(tokenizer->size(), tokenizer->size());
    s.target_bytes = text.size();
    if (objective->traits().pairs()) s.source_begin = s.target_begin = {0};
    for (const char c : text) {
      if (objective->traits().pairs() && c == '\n') {
        for (auto* begin : {&s.source_begin, &s.target_begin}) begin->push_back(s.target.size());
        continue;
      }
      const int id = tokenizer->encode(std::string(1, c)).front();
      s.target.push_back(id);
      if (objective->traits().pairs()) s.source.push_back(id);
    }
    return s;
  }

  Yardsticks measured(int threads = 2) const {
    Pool pool(threads);
    return measure_yardsticks(*objective, *tokenizer, train, held_out, pool);
  }

  std::vector<int> labels(const Split& split) const {
    std::vector<int> all;
    const ExampleList list = objective->evaluation(split);
    for (std::int64_t i = 0; i < list.count; ++i) {
      Example e;
      list.get(i, e);
      for (const int label : e.labels)
        if (label >= 0) all.push_back(label);
    }
    return all;
  }
};

std::vector<std::string> names(const Yardsticks& yardsticks) {
  std::vector<std::string> list;
  for (const Yardstick& y : yardsticks) list.push_back(y.name);
  return list;
}

const std::vector<std::string> kShort = {"objective.source_length=12", "objective.target_length=9"};

std::vector<RunConfig> all_objectives() {
  return {text_config(kShort), causal_config({kShort[1]}), masked_config({kShort[0]}),
          pairs_config(),
          text_config({"objective.type=span_corruption", "objective.source_length=12"})};
}

double slow_ids(const Corpus& c) {
  return c.tokenizer->size() - static_cast<double>(c.objective->never_written(*c.tokenizer).size());
}

// Nats per token.
double slow_unigram(const Corpus& c) {
  std::map<int, double> seen;
  const std::vector<int> train = c.labels(c.train), held_out = c.labels(c.held_out);
  for (const int label : train) ++seen[label];
  double nats = 0;
  for (const int label : held_out)
    nats -= std::log((seen[label] + 1) / (static_cast<double>(train.size()) + slow_ids(c)));
  return nats / static_cast<double>(held_out.size());
}

TEST(Yardsticks, ScoreTheLabelsOfTheValidationForEveryObjective) {
  for (const RunConfig& config : all_objectives()) {
    SCOPED_TRACE(config.objective.type);
    const Corpus c(config);
    const std::vector<int> held_out = c.labels(c.held_out);
    const Yardsticks y = c.measured();
    ASSERT_GE(y.size(), 2u);
    EXPECT_NEAR(y[0].nats_per_token, std::log(slow_ids(c)), 1e-12);
    EXPECT_NEAR(y[1].nats_per_token, slow_unigram(c), 1e-9);
    const bool whole = c.objective->traits().bits_per_byte;
    EXPECT_EQ(names(y), whole ? std::vector<std::string>({"uniform", "unigram", "6-gram", "xz"})
                              : std::vector<std::string>({"uniform", "unigram"}));
    for (const Yardstick& each : y) {
      ASSERT_EQ(!std::isnan(each.bits_per_byte), whole);
      if (!whole) continue;
      const double nats_in_all = each.nats_per_token * static_cast<double>(held_out.size());
      const auto bytes = static_cast<double>(c.held_out.target_bytes);
      EXPECT_NEAR(each.bits_per_byte, nats_in_all / (std::log(2) * bytes), 1e-9);
    }
  }
}

TEST(Yardsticks, OnTextLikeTheTrainingTextNeighboursHelpAndSoDoFrequencies) {
  const Yardsticks y = Corpus(causal_config(), text_of(200, 3), text_of(40, 3)).measured();
  EXPECT_LT(y[1].nats_per_token, y[0].nats_per_token);
  EXPECT_LT(y[2].nats_per_token, y[1].nats_per_token);
  EXPECT_LT(y[3].nats_per_token, y[1].nats_per_token);  // xz has read it all before
}

TEST(Yardsticks, OfPairsReadEveryLineFromItsStart) {
  const auto ngram = [](const std::string& held_out) {
    return Corpus(pairs_config(), text_of(200, 3), held_out).measured()[2].nats_per_token;
  };
  EXPECT_NEAR(ngram("abc\nb\ncab\n"), ngram("cab\nabc\nb\n"), 1e-12);
}

TEST(Yardsticks, ALongTextIsNotReadWhole) {
  Corpus c(causal_config());
  const double little = yardsticks_memory(*c.objective, c.train, 2);
  const std::vector<int> ids = c.labels(c.train);
  for (int i = 0; i < 5'100'000; ++i) c.train.target.push_back(ids[i % ids.size()]);
  c.train.target_bytes = c.train.target.size();
  EXPECT_EQ(names(c.measured()).size(), 4U);
  EXPECT_LT(little, 50e6);
  EXPECT_GT(yardsticks_memory(*c.objective, c.train, 2), 150e6);
}

// A decoder that reads the sources itself has an example of 200,001 tokens here, half of them
// asked.
TEST(Yardsticks, KnowAsMuchOfPairsWhereTheDecoderReadsTheSources) {
  Corpus c(pairs_config({"model.encoder_layers=0"}));
  const int id = c.labels(c.train).front();
  for (int i = 0; i < 26; ++i) {
    for (int j = 0; j < 100'000; ++j) {
      c.train.source.push_back(id);
      c.train.target.push_back(id);
    }
    c.train.source_begin.push_back(c.train.source.size());
    c.train.target_begin.push_back(c.train.target.size());
  }
  EXPECT_NEAR(c.measured()[1].nats_per_token, slow_unigram(c), 1e-9);
}

TEST(Yardsticks, OfHardlyAnyTextAreNumbersToo) {
  for (const RunConfig& config : all_objectives())
    for (const std::string train : {"", "a\n", "ab\n"}) {
      EXPECT_EQ(Corpus(config, train, "").measured().size(), 0u);
      for (const Yardstick& y : Corpus(config, train, "ba\n").measured())
        EXPECT_TRUE(std::isfinite(y.nats_per_token)) << y.name;
    }
}

TEST(Yardsticks, AreLeftOutWhereTheyCannotBeCompared) {
  Corpus lower(causal_config());
  lower.held_out.lossy = true;
  for (const Yardstick& y : lower.measured()) EXPECT_TRUE(std::isnan(y.bits_per_byte)) << y.name;
  Corpus unknown(causal_config());
  const double before = std::exp(unknown.measured()[0].nats_per_token);
  unknown.held_out.target.push_back(Tokenizer::kUnk);
  const Yardsticks y = unknown.measured();
  EXPECT_EQ(names(y), std::vector<std::string>({"uniform", "unigram", "6-gram"}));
  EXPECT_NEAR(std::exp(y[0].nats_per_token), before + 1, 1e-9);  // <unk> can be right, too
}

}  // namespace
}  // namespace heed
