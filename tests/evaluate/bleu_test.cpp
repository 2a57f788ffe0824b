#include "evaluate/bleu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/noise.h"
#include "config/train_config.h"

namespace heed {
namespace {

using Lines = std::vector<std::string>;

constexpr BleuOptions k13a{};
const BleuOptions kNone{"none", false};

// Figures of sacreBLEU's own tests (github.com/mjpost/sacrebleu, test/test_sentence_bleu.py and
// test/test_bleu.py at version 2): those with one reference and exponential smoothing.
TEST(Bleu, SacreBleusFigures) {
  const Lines hypothesis = {
      "Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;"};
  const Lines reference = {"producţia de zahăr brut se exprimă în zahăr alb;"};
  EXPECT_NEAR(corpus_bleu(hypothesis, reference, k13a).score, 8.493, 1e-3);
  EXPECT_NEAR(corpus_bleu(hypothesis, reference, kNone).score, 7.347, 1e-3);
  EXPECT_EQ(corpus_bleu(Lines{"this is a cat"}, Lines{"okay thanks"}, k13a).score, 0.0);
  EXPECT_EQ(
      corpus_bleu(Lines{"this is a test", "another test"}, Lines{"ref1", "ref2"}, kNone).score,
      0.0);
  EXPECT_NEAR(corpus_bleu(Lines{"this is a test"}, Lines{"this is a test"}, kNone).score, 100.0,
              1e-8);
  const Lines dogs = {"The dog bit the man.", "It was not unexpected.", "The man bit him first."};
  EXPECT_EQ(corpus_bleu(Lines{"", "", ""}, dogs, k13a).score, 0.0);

  const Bleu statistics = corpus_bleu(Lines{"am I am a character sequence"},
                                      Lines{"I am a symbol string sequence a a"}, kNone);
  EXPECT_EQ(statistics.correct, (std::array<std::int64_t, 4>{4, 2, 1, 0}));
  EXPECT_EQ(statistics.total, (std::array<std::int64_t, 4>{6, 5, 4, 3}));
}

TEST(Bleu, ByHand) {
  // Matches 5/5, 3/4, 2/3, 1/2; BP = exp(1 - 6/5). 100 e^-0.2 (1/4)^(1/4) = 57.8929...
  const Bleu bleu =
      corpus_bleu(Lines{"the cat sat on mat"}, Lines{"the cat sat on the mat"}, kNone);
  EXPECT_NEAR(bleu.score, 100 * std::exp(-0.2) * std::pow(0.25, 0.25), 1e-9);
  EXPECT_EQ(bleu.line(),
            "BLEU = 57.89 100.0/75.0/66.7/50.0 (BP = 0.819 ratio = 0.833 hyp_len = 5 ref_len = 6)");
  // A zero 4-gram count is smoothed to 1/2 of one match: 3/4, 2/3, 1/2, (1/2)/1.
  EXPECT_NEAR(corpus_bleu(Lines{"this is a fest"}, Lines{"this is a test"}, kNone).score,
              100 * std::pow(0.75 * 2 / 3 * 0.5 * 0.5, 0.25), 1e-9);
  // A second zero count in a row to 1/4: 3/4, 1/3, (1/2)/2, (1/4)/1.
  EXPECT_NEAR(corpus_bleu(Lines{"a b x c"}, Lines{"a b c d"}, kNone).score,
              100 * std::pow(0.75 / 3 / 4 / 4, 0.25), 1e-9);
  // Clipping: "the" stands twice in the reference, so two of four match; and no 4-gram order at
  // all.
  EXPECT_EQ(corpus_bleu(Lines{"the the the the"}, Lines{"the dog the"}, kNone).correct[0], 2);
  EXPECT_EQ(corpus_bleu(Lines{"a test"}, Lines{"a test"}, kNone).score, 0.0);
  // Counts are summed over the corpus, not scores averaged: 3/4, 2/3... of both lines together.
  const Bleu two = corpus_bleu(Lines{"a b c d", "e f g h"}, Lines{"a b c d", "x x x x x"}, kNone);
  EXPECT_NEAR(two.score, 100 * std::exp(1 - 9.0 / 8) * 0.5, 1e-9);
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
  for (const auto& [line, tokens] : cases) EXPECT_EQ(bleu_words(line, "13a"), tokens);
}

TEST(Bleu, LowerCaseAndSignature) {
  const Lines upper = {"Die ÄRZTE sind da ."}, lower = {"die ärzte sind da ."};
  const BleuOptions lowercase{"none", true};
  EXPECT_LT(corpus_bleu(upper, lower, kNone).score, 60);
  EXPECT_NEAR(corpus_bleu(upper, lower, lowercase).score, 100, 1e-9);
  EXPECT_EQ(corpus_bleu(upper, lower, lowercase).signature,
            "nrefs:1|case:lc|eff:no|tok:none|smooth:exp|version:heed-0.1.0");
  EXPECT_EQ(
      corpus_bleu(upper, lower).signature.find("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|"),
      0u);
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
    EXPECT_NEAR(corpus_bleu(hypotheses, c.references).score, c.bleu, 1e-13 * c.bleu);
    EXPECT_NEAR(corpus_bleu(hypotheses, c.references, kNone).score, c.none, 1e-13 * c.none);
    EXPECT_NEAR(corpus_bleu(hypotheses, c.references, {"13a", true}).score, c.lower,
                1e-13 * c.lower);
    EXPECT_NEAR(corpus_chrf(hypotheses, c.references).score, c.chrf, 1e-13 * c.chrf);
    EXPECT_NEAR(corpus_chrf(hypotheses, c.references, true).score, c.lower_chrf,
                1e-13 * c.lower_chrf);
  }
  const Bleu bleu = corpus_bleu(hypotheses, all);
  EXPECT_EQ(bleu.reference_length, 33);  // the closest of each
  EXPECT_EQ(bleu.signature.find("nrefs:3|"), 0u);
  EXPECT_EQ(corpus_chrf(hypotheses, two).signature.find("nrefs:2|"), 0u);
  EXPECT_NEAR(character_error_rate(hypotheses, first), 48.59154929577465, 1e-12);
}

TEST(Bleu, CharacterErrorsAndExactLines) {
  // One replaced, one inserted, one deleted; of two equally near references the longer.
  EXPECT_NEAR(character_error_rate(Lines{"händ"}, Lines{"hund"}), 25, 1e-12);
  EXPECT_NEAR(character_error_rate(Lines{"a bc", "x"}, Lines{"abc", "xy"}), 40, 1e-12);
  EXPECT_NEAR(character_error_rate(Lines{"abc"}, Lines{"ab", "abcd"}), 25, 1e-12);
  EXPECT_NEAR(character_error_rate(Lines{"AB"}, Lines{"ab"}, true), 0, 1e-12);
  EXPECT_NEAR(character_error_rate(Lines{""}, Lines{""}), 0, 1e-12);
  const Lines hypotheses = {"a", "b", "C"};
  EXPECT_NEAR(exact_match(hypotheses, Lines{"a", "x", "c"}), 100.0 / 3, 1e-12);
  EXPECT_NEAR(exact_match(hypotheses, Lines{"x", "x", "c", "a", "b", "d"}), 200.0 / 3, 1e-12);
  EXPECT_NEAR(exact_match(hypotheses, Lines{"a", "b", "c"}, true), 100, 1e-12);
}

// The table of distances between beginnings, row by row (Wagner and Fischer 1974).
std::size_t slow_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      d[i][j] = i == 0 ? j : i;
      if (i == 0 || j == 0) continue;
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
    }
  return d[a.size()][b.size()];
}

TEST(Bleu, CharacterErrorsAreThoseOfTheSlowTable) {
  std::uint64_t drawn = 0;
  const auto draw = [&](std::uint64_t n) { return combine(hash64(6), ++drawn) % n; };
  for (int i = 0; i < 400; ++i) {
    const std::size_t letters = 1 + draw(5);
    const auto line = [&] {
      std::string text(draw(i % 9 == 0 ? 400 : 140), ' ');
      for (char& c : text) c = static_cast<char>('a' + draw(letters));
      return text;
    };
    const std::string a = line(), b = i % 3 == 0 ? a.substr(a.size() / 3) + line() : line();
    const double errors = 100.0 * static_cast<double>(slow_distance(a, b)) /
                          static_cast<double>(std::max<std::size_t>(1, b.size()));
    EXPECT_EQ(character_error_rate(Lines{a}, Lines{b}), errors) << a << '\n' << b;
  }
  for (const std::size_t n : {63, 64, 65, 127, 128, 129})  // at the ends of blocks
    EXPECT_EQ(character_error_rate(Lines{std::string(n, 'a') + "b"}, Lines{std::string(n, 'a')}),
              100.0 / static_cast<double>(n));
}

// Each value of train.select_by but the loss is a row.
TEST(Bleu, ARowForEveryMetricThatSelects) {
  TrainConfig config;
  const std::vector<Field> all = fields(config, When{});
  const auto field = std::ranges::find(all, "select_by", &Field::key);
  for (const std::string& name : std::get<Choice>(field->ref).names)
    EXPECT_EQ(find_metric(name) != nullptr, name != "loss") << name;
}

TEST(Bleu, NeedsAsManyReferences) {
  EXPECT_THROW(corpus_bleu(Lines{"a"}, Lines{}), Error);
  EXPECT_THROW(corpus_bleu(Lines{}, Lines{}), Error);
  EXPECT_THROW(corpus_chrf(Lines{"a", "b"}, Lines{"a", "b", "c"}), Error);
}

}  // namespace
}  // namespace heed
