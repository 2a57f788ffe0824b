#include "data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/data_folder.h"

namespace heed {
namespace {

using testing::Contains;
using testing::HasSubstr;

class PairDataset : public DataFolder {};

TEST_F(PairDataset, ALimitCountsPairs) {
  file("a.tsv", "a b\tx\nc d\ty\ne f\tz\ng h\tx\n");
  const std::vector<std::string> sets = {"tokenizer.type=word", "data.valid_fraction=0.25",
                                         "data.limit=2"};
  const Dataset d = load(pairs_config(sets));
  EXPECT_EQ(d.train.sentences(), 2u);
  EXPECT_EQ(d.valid.sentences(), 1u);
  EXPECT_EQ(tokenizers_.target->size(), 3 + 6);
  EXPECT_EQ(d.hash, load(pairs_config({sets[0], sets[1]})).hash);
}

TEST_F(PairDataset, PairTokenizersHaveNoNewline) {
  file("a.tsv", "a b c\tx y\nb a\ty\n");
  for (const std::string type : {"word", "char"}) {
    load(pairs_config({"tokenizer.type=" + type, "data.valid_fraction=0"}));
    EXPECT_EQ(tokenizers_.target->unknown("\n").count, 1u) << type;
  }
}

TEST_F(PairDataset, PairsAreSplitDroppedAndCounted) {
  std::string tsv;
  for (int i = 0; i < 10; ++i) tsv += "a b c\tx y\n";
  tsv += "a a a a a a\tx\n";  // six tokens
  for (int i = 0; i < 9; ++i) tsv += "b\ty z new\n";
  file("a.tsv", tsv);
  const RunConfig c =
      pairs_config({"tokenizer.type=word", "data.max_length=4", "data.valid_fraction=0.2"});
  const Dataset d = load(c);
  EXPECT_EQ(d.train.sentences(), 15u);
  EXPECT_EQ(d.train.dropped, 1u);
  EXPECT_EQ(d.valid.sentences(), 4u);
  EXPECT_EQ(d.train.target_bytes, 10 * 4 + 5 * 8u);
  EXPECT_THAT(d.warnings, Contains(AllOf(HasSubstr("left out 1 of "),
                                         HasSubstr("longer than data.max_length 4 tokens"))));
  refuses(pairs_config({"tokenizer.type=char", "data.max_length=1"}), {"data.max_length"});
}

TEST_F(PairDataset, AHeldOutPairBeyondThePositionsIsLeftOutAndNamed) {
  file("a.tsv", "a\tx\na\tx\n\tx\na b a b a b\tx\nb\ty\n");
  const std::vector<std::string> sets = {"tokenizer.type=word", "data.max_length=4",
                                         "data.valid_fraction=0.5", "model.positions=learned",
                                         "model.max_length=5"};
  const Dataset d = load(pairs_config(sets));
  EXPECT_EQ(d.valid.sentences(), 1u);
  EXPECT_EQ(d.valid.dropped, 1u);
  EXPECT_THAT(d.warnings, Contains(AllOf(HasSubstr("1 of 2 pairs"), HasSubstr("/a.tsv:4"))));
  file("a.tsv", "a\tx\na b a b a b\tx\n");
  refuses(pairs_config(sets), {"/a.tsv:2", "7", "5"});
}

TEST_F(PairDataset, SidesCanHaveVocabulariesOfTheirOwn) {
  file("a.tsv", "a b c\tx\na b\tx y\nc\ty\n");
  const RunConfig c = pairs_config(
      {"tokenizer.type=word", "tokenizer.shared=false", "model.tie=none", "data.valid_fraction=0"});
  const Dataset d = load(c);
  EXPECT_GT(tokenizers_.source().size(), tokenizers_.target->size());
  EXPECT_EQ(tokenizers_.target->unknown("a").count, 1u);
  EXPECT_EQ(tokenizers_.source().unknown("a").count, 0u);
  EXPECT_EQ(tokenizers_.files().size(), 2u);
  EXPECT_EQ(d.train.unknown.count, 0u);
}

}  // namespace
}  // namespace heed
