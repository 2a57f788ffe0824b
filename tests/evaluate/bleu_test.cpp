#include "evaluate/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "config/train_config.h"
#include "text/tokenizer_trainer.h"
#include "text/utf8.h"

namespace heed {
namespace {

using Lines = std::vector<std::string>;

const BleuOptions k13a{};
const BleuOptions kNone{"none", false};

// `references`: a line for each hypothesis, or several such lists, one after the other.
Sums sums_of(const Lines& hypotheses, const Lines& references, const BleuOptions& how = {}) {
  Sums sums;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    Lines of_line;
    for (std::size_t r = i; r < references.size(); r += hypotheses.size())
      of_line.push_back(references[r]);
    sums += translation_counts(hypotheses[i], of_line, how);
  }
  return sums;
}

double bleu(const Lines& hypotheses, const Lines& references, const BleuOptions& how = {}) {
  return figure("bleu").of(sums_of(hypotheses, references, how));
}

double chrf(const Lines& hypotheses, const Lines& references, const BleuOptions& how = {}) {
  return figure("chrf").of(sums_of(hypotheses, references, how));
}

double character_errors(const Lines& hypotheses, const Lines& references, bool lowercase = false) {
  return figure("cer").of(sums_of(hypotheses, references, {.lowercase = lowercase}));
}

double exact_match(const Lines& hypotheses, const Lines& references, bool lowercase = false) {
  return figure("exact").of(sums_of(hypotheses, references, {.lowercase = lowercase}));
}

// Figures of sacreBLEU's own tests (github.com/mjpost/sacrebleu, test/test_sentence_bleu.py and
// test/test_bleu.py at version 2): those with one reference and exponential smoothing.
TEST(Bleu, SacreBleusFigures) {
  const Lines hypothesis = {
      "Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;"};
  const Lines reference = {"producţia de zahăr brut se exprimă în zahăr alb;"};
  EXPECT_NEAR(bleu(hypothesis, reference, k13a), 8.493, 1e-3);
  EXPECT_NEAR(bleu(hypothesis, reference, kNone), 7.347, 1e-3);
  EXPECT_EQ(bleu(Lines{"this is a cat"}, Lines{"okay thanks"}, k13a), 0.0);
  EXPECT_EQ(bleu(Lines{"this is a test", "another test"}, Lines{"ref1", "ref2"}, kNone), 0.0);
  EXPECT_NEAR(bleu(Lines{"this is a test"}, Lines{"this is a test"}, kNone), 100.0, 1e-8);
  const Lines dogs = {"The dog bit the man.", "It was not unexpected.", "The man bit him first."};
  EXPECT_EQ(bleu(Lines{"", "", ""}, dogs, k13a), 0.0);

  // Matches of 1 to 4 words 4, 2, 1 and 0 of 6, 5, 4 and 3.
  EXPECT_THAT(bleu_line(sums_of({"am I am a character sequence"},
                                {"I am a symbol string sequence a a"}, kNone)),
              testing::HasSubstr(" 66.7/40.0/25.0/16.7 "));
}

TEST(Bleu, ByHand) {
  // Matches 5/5, 3/4, 2/3, 1/2; BP = exp(1 - 6/5). 100 e^-0.2 (1/4)^(1/4) = 57.8929...
  const Sums sums = sums_of({"the cat sat on mat"}, {"the cat sat on the mat"}, kNone);
  EXPECT_NEAR(figure("bleu").of(sums), 100 * std::exp(-0.2) * std::pow(0.25, 0.25), 1e-9);
  EXPECT_EQ(bleu_line(sums),
            "BLEU = 57.89 100.0/75.0/66.7/50.0 (BP = 0.819 ratio = 0.833 hyp_len = 5 ref_len = 6)");
  // A zero 4-gram count is smoothed to 1/2 of one match: 3/4, 2/3, 1/2, (1/2)/1.
  EXPECT_NEAR(bleu(Lines{"this is a fest"}, Lines{"this is a test"}, kNone),
              100 * std::pow(0.75 * 2 / 3 * 0.5 * 0.5, 0.25), 1e-9);
  // A second zero count in a row to 1/4: 3/4, 1/3, (1/2)/2, (1/4)/1.
  EXPECT_NEAR(bleu(Lines{"a b x c"}, Lines{"a b c d"}, kNone),
              100 * std::pow(0.75 / 3 / 4 / 4, 0.25), 1e-9);
  // Clipping: "the" stands twice in the reference, so two of four match; and no 4-gram order at
  // all.
  EXPECT_THAT(bleu_line(sums_of({"the the the the"}, {"the dog the"}, kNone)),
              testing::HasSubstr(" 50.0/"));
  EXPECT_EQ(bleu(Lines{"a test"}, Lines{"a test"}, kNone), 0.0);
  // Counts are summed over the corpus, not scores averaged: 3/4, 2/3... of both lines together.
  EXPECT_NEAR(bleu({"a b c d", "e f g h"}, {"a b c d", "x x x x x"}, kNone),
              100 * std::exp(1 - 9.0 / 8) * 0.5, 1e-9);
}

TEST(Bleu, Tokens13a) {
  const std::pair<const char*, const char*> cases[] = {
      {"Hello, world!", "Hello , world !"},
      {"It's 3.14, or 1,000.", "It's 3.14 , or 1,000 ."},
      {"1990-2000 well-known -5", "1990 - 2000 well-known -5"},
      {"a.b... c", "a . b . . . c"},
      {"&quot;x&quot; &amp;lt; y", "\" x \" < y"},
      {"(a/b) [c] {d} e@f #1 50%", "( a / b ) [ c ] { d } e @ f # 1 50 %"},
      {"  a\tb\xC2\xA0 c ", "a b c"},
      {"ein „Hund“, ß.", "ein „Hund“ , ß ."},
      {"x<skipped>y", "xy"},
      {"", ""},
  };
  for (const auto& [line, tokens] : cases)
    EXPECT_EQ(split_words(bleu_words(line, "13a")), split_words(tokens));
}

// Figures of sacreBLEU 2.6.0; character error rates by another program.
TEST(Bleu, SeveralReferences) {
  const Lines hypotheses = {"The cat sat on the mat .",
                            "A dog, quickly; ran away!",
                            "the the the the",
                            "",
                            "He bought 3.5 apples in 1999-2000",
                            "ein kleiner Hund läuft über die Wiese"};
  const Lines first = {"The cat is sitting on the mat .",
                       "A dog ran off quickly!",
                       "the dog and the cat",
                       "nothing at all",
                       "He bought 3.5 pears in 1999",
                       "ein Hund rennt über die Wiese"};
  Lines all = first;
  for (const char* line :
       {"On the mat sat a cat .", "The dog, quickly, ran away!", "", "one more line",
        "In 1999-2000 he bought apples", "ein kleiner Hund läuft schnell über eine grüne Wiese",
        "the cat sat", "", "the the the dog", "x", "He purchased 3.5 apples in 2000",
        "ein kleines Hündchen läuft"})
    all.emplace_back(line);
  const Lines two(all.begin(), all.begin() + 12);
  const struct {
    Lines references;
    double bleu, none, lower, chrf, lower_chrf;
  } cases[] = {{first, 21.268483146975363, 20.854533939105433, 21.268483146975363,
                45.87804455028532, 45.87804455028532},
               {two, 36.947901430391774, 34.00433026515635, 41.980921155543356, 52.107333570049775,
                55.15294046397059},
               {all, 44.028666871814515, 44.62831070359221, 50.80377890838715, 59.4889755183706,
                62.30717632044386}};
  for (const auto& c : cases) {
    EXPECT_NEAR(bleu(hypotheses, c.references), c.bleu, 1e-13 * c.bleu);
    EXPECT_NEAR(bleu(hypotheses, c.references, kNone), c.none, 1e-13 * c.none);
    EXPECT_NEAR(bleu(hypotheses, c.references, {"13a", true}), c.lower, 1e-13 * c.lower);
    EXPECT_NEAR(chrf(hypotheses, c.references), c.chrf, 1e-13 * c.chrf);
    EXPECT_NEAR(chrf(hypotheses, c.references, {.lowercase = true}), c.lower_chrf,
                1e-13 * c.lower_chrf);
  }
  EXPECT_THAT(bleu_line(sums_of(hypotheses, all)),
              testing::HasSubstr("ref_len = 33"));  // the closest of each
  EXPECT_NEAR(character_errors(hypotheses, first), 48.59154929577465, 1e-12);
}

TEST(Bleu, CharacterErrorsAndExactLines) {
  // One replaced, one inserted, one deleted; of two equally near references the longer.
  EXPECT_NEAR(character_errors(Lines{"händ"}, Lines{"hund"}), 25, 1e-12);
  EXPECT_NEAR(character_errors(Lines{"a bc", "x"}, Lines{"abc", "xy"}), 40, 1e-12);
  EXPECT_NEAR(character_errors(Lines{"abc"}, Lines{"ab", "abcd"}), 25, 1e-12);
  EXPECT_NEAR(character_errors(Lines{"AB"}, Lines{"ab"}, true), 0, 1e-12);
  EXPECT_NEAR(character_errors(Lines{""}, Lines{""}), 0, 1e-12);
  const Lines hypotheses = {"a", "b", "C"};
  EXPECT_NEAR(exact_match(hypotheses, Lines{"a", "x", "c"}), 100.0 / 3, 1e-12);
  EXPECT_NEAR(exact_match(hypotheses, Lines{"x", "x", "c", "a", "b", "d"}), 200.0 / 3, 1e-12);
  EXPECT_NEAR(exact_match(hypotheses, Lines{"a", "b", "c"}, true), 100, 1e-12);
}

TEST(Bleu, TokenErrors) {
  const auto errors = [](const Lines& hypotheses, const Lines& references,
                         const Tokenizer* units = nullptr) {
    return figure("token_errors").of(sums_of(hypotheses, references, {.units = units}));
  };
  // Of seven words one replaced, one deleted; white space does not count.
  EXPECT_NEAR(errors(Lines{"a  x c", "d e f"}, Lines{"a b c", "d e f g"}), 200.0 / 7, 1e-12);
  EXPECT_NEAR(errors(Lines{"a b"}, Lines{"a", "a b c"}), 100.0 / 3, 1e-12);
  TokenizerTrainer trainer({.type = TokenizerConfig::word, .punctuation = Punctuation::split}, {},
                           1);
  trainer.add("ab, c");
  const auto words = trainer.finish().tokenizer;
  EXPECT_NEAR(errors(Lines{"ab c"}, Lines{"ab, c"}, words.get()), 100.0 / 3, 1e-12);
  // What the tokenizer does not know differs all the same.
  EXPECT_NEAR(errors(Lines{"x c"}, Lines{"y c"}, words.get()), 50, 1e-12);
  const size_t at = figure("token_errors").begin;
  const Sums two_of_three = translation_counts("a x", {"a b c"});
  EXPECT_EQ(std::pair(two_of_three[at], two_of_three[at + 1]), std::pair(2.0, 3.0));
  // A model that reads letters and accents apart has tokens of these.
  TokenizerTrainer parts({.type = TokenizerConfig::bpe, .vocab_size = 270}, {}, 1);
  parts.add("e\u0301 e\u0300 e");
  const auto pieces = parts.finish().tokenizer;
  const auto counts =
      translation_counts("\u00E9", {"\u00E8"}, {.units = pieces.get(), .form = Normalize::nfd});
  const std::string read = "e\u0300";
  EXPECT_EQ(counts[at + 1], pieces->encode(read).size());
}

// Each value of train.select_by but the loss is a row.
TEST(Bleu, ARowForEveryMetricThatSelects) {
  TrainConfig config;
  const std::vector<Field> all = fields(config, When{});
  const auto field = std::ranges::find(all, "select_by", &Field::key);
  for (const std::string& name : std::get<Choice>(field->ref).names)
    EXPECT_EQ(std::ranges::count(figures(), name, &Figure::key), 1) << name;
}

// Lines of sacreBLEU's own tests (github.com/mjpost/sacrebleu, test/test_chrf.py), figures of
// version 2.6.0.
TEST(Chrf, SacreBleusFigures) {
  const struct {
    Lines hypotheses, references;
    double score;
  } cases[] = {
      {{"a"}, {"a"}, 100},
      {{""}, {"reference"}, 0},
      {{"a b c"}, {"a b c"}, 100},
      {{"a b c"}, {"abc"}, 100},
      {{""}, {"c"}, 0},
      {{"source"}, {""}, 0},
      {{"abcdefg"}, {"hijklmnop"}, 0},
      {{"a", "b"}, {"a", "c"}, 50},
      {{"aa"}, {"ab"}, 25},
  };
  for (const auto& c : cases)
    EXPECT_NEAR(chrf(c.hypotheses, c.references), c.score, 1e-9) << c.hypotheses[0];
}

}  // namespace
}  // namespace heed
