#include "evaluate/bleu.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace heed {
namespace {

using Lines = std::vector<std::string>;

// Figures of sacreBLEU's own tests (github.com/mjpost/sacrebleu, test/test_chrf.py): version 1 for
// the two long ones, version 2 without epsilon smoothing for the rest. They use beta 3.
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
      {{"Niemand hat die Absicht, eine Mauer zu errichten"},
       {"Niemand hat die Absicht, eine Mauer zu errichten"},
       100},
      {{" Die    Beziehung zwischen  Obama und Netanjahu ist nicht gerade  freundlich. "},
       {"Das Verhältnis zwischen Obama und Netanyahu ist nicht gerade freundschaftlich."},
       64.130269831561459},
      {{" risk assessment must be made of those who are qualified and expertise in the sector - "
        "these are the scientists ."},
       {"risk assessment has to be undertaken by those who are qualified and expert in that area - "
        "that is the scientists ."},
       63.361730303214769},
  };
  for (const auto& c : cases) {
    EXPECT_NEAR(corpus_chrf(c.hypotheses, c.references, false, 3).score, c.score, 1e-9)
        << c.hypotheses[0];
  }
}

// From the same file, with beta 2. Those figures average the F of each order (epsilon smoothing)
// where the default takes the F of the averages; on these sentences they differ by less than 1e-4.
TEST(Chrf, SacreBleusSentences) {
  EXPECT_NEAR(
      corpus_chrf(
          Lines{"Co nás nejvíc trápí, protože lékaři si vybírají, kdo bude žít a kdo zemře."},
          Lines{
              "Nejvíce smutní jsme z toho, že musíme rozhodovat o tom, kdo bude žít a kdo zemře."})
          .score,
      39.14078509, 1e-4);
  EXPECT_NEAR(
      corpus_chrf(
          Lines{"Nebo prostě nemají vybavení, které by jim pomohlo, uvedli lékaři."},
          Lines{"A někdy nemáme ani potřebný materiál, abychom jim pomohli, popsali lékaři."})
          .score,
      31.22557079, 1e-4);
}

TEST(Chrf, ByHand) {
  // Orders 1 and 2 of "abc" against "abd": 2/3 and 1/2 match on both sides, of order 3 none:
  // P = R = (2/3 + 1/2 + 0) / 3.
  EXPECT_NEAR(corpus_chrf(Lines{"abc"}, Lines{"ab d"}).score, 100 * (2.0 / 3 + 0.5) / 3, 1e-9);
  // "ab" against "abcd": P = 1, R of orders 1, 2: 2/4, 1/3 (orders that both have).
  const double recall = (0.5 + 1.0 / 3) / 2;
  EXPECT_NEAR(corpus_chrf(Lines{"ab"}, Lines{"abcd"}).score, 100 * 5 * recall / (4 + recall), 1e-9);
  // Where a line's reference has no 2-grams, the hypothesis' 2-grams do not count as wrong.
  EXPECT_NEAR(corpus_chrf(Lines{"xy", "ab"}, Lines{"x", "ab"}).score,
              100 * 5 * (0.5 * (3.0 / 4 + 1)) / (4 * 0.5 * (3.0 / 4 + 1) + 1), 1e-9);
}

TEST(Chrf, LowerCaseAndSignature) {
  EXPECT_LT(corpus_chrf(Lines{"ÄRZTE"}, Lines{"ärzte"}).score, 1);
  EXPECT_NEAR(corpus_chrf(Lines{"ÄRZTE"}, Lines{"ärzte"}, true).score, 100, 1e-9);
  EXPECT_EQ(corpus_chrf(Lines{"a"}, Lines{"a"}, true).signature,
            "nrefs:1|case:lc|eff:yes|nc:6|nw:0|space:no|version:heed-0.1.0");
  EXPECT_THROW(corpus_chrf(Lines{"a"}, Lines{}), Error);
}

}  // namespace
}  // namespace heed
