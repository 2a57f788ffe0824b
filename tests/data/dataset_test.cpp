#include "data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/noise.h"
#include "data/corpus.h"
#include "data/data_folder.h"

namespace heed {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Sets = std::vector<std::string>;

class DatasetTest : public DataFolder {};

TEST_F(DatasetTest, TheTailIsHeldOut) {
  file("a.txt", "abcdefghi\n");
  for (const auto& [fraction, train, valid] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"0.1", "abcdefghi", "\n"}, {"0.25", "abcdefg", "hi\n"}, {"0", "abcdefghi\n", ""}}) {
    const Dataset d = load(text_config({"data.valid_fraction=" + fraction}));
    EXPECT_EQ(decoded(d.train), train);
    EXPECT_EQ(d.train.target_bytes, train.size());
    EXPECT_EQ(d.valid.target.size(), valid.size());
    EXPECT_EQ(d.valid.target_bytes, valid.size());
    EXPECT_EQ(tokenizers_.target->size(), 3 + 10);  // of the tail, too
  }
}

TEST_F(DatasetTest, CharactersAreNeverCut) {
  file("a.txt", "aéaéaéaéaxy\n");  // 16 bytes
  const Dataset d = load(text_config({"data.valid_fraction=0.5"}));
  EXPECT_EQ(decoded(d.train), "aéaéa");
  EXPECT_EQ(decoded(d.valid), "éaéaxy\n");
  EXPECT_EQ(d.valid.target_bytes, 9u);
}

TEST_F(DatasetTest, ALimitCutsTheTrainingTextAlone) {
  file("a.txt", "béa\nbéb\naéa\nbéb\n");
  const Dataset whole = load(text_config({"data.valid_fraction=0.4"}));
  for (const auto& [limit, train] : std::vector<std::pair<std::string, std::string>>{
           {"4", "béa\n"}, {"6", "béa\nbéb\n"}, {"99", "béa\nbéb\naéa\n"}}) {
    const RunConfig c = text_config({"data.valid_fraction=0.4", "data.limit=" + limit});
    const Dataset d = load(c);
    EXPECT_EQ(decoded(d.train), train) << limit;
    EXPECT_EQ(d.train.target_bytes, train.size());
    EXPECT_EQ(decoded(d.valid), "béb\n");
    EXPECT_EQ(d.hash, whole.hash);
  }
  file("a.txt", "é" + std::string(2000, 'a'));
  refuses(text_config({"data.limit=1"}), {"data.limit"});
  load(text_config({"data.limit=3"}));       // the vocabulary is that of what is trained on
  EXPECT_EQ(tokenizers_.target->size(), 6);  // and the newline that the file lacks
  expect_error([&] { load_dataset(text_config({"data.limit=2"}), folder_, tokenizers_); },
               Exit::data, {"1", "data.limit"});  // of a vocabulary that is given
}

TEST_F(DatasetTest, TextsAreCutAtLineEndsElseAtWhiteSpace) {
  const auto held_out = [&](const std::string& text, const std::string& tokenizer = "char") {
    file("a.txt", text);
    const Sets sets = {"data.valid_fraction=0.5", "tokenizer.type=" + tokenizer};
    return load(text_config(sets)).valid.target_bytes;
  };
  for (const char* tokenizer : {"char", "byte"}) {
    EXPECT_EQ(held_out("alpha beta\ngamma delta\nx\n", tokenizer), 2u);
    EXPECT_EQ(held_out("alpha bet\ngamma del\n", tokenizer), 10u);  // it is at one
  }
  const std::string far(1500, 'x'), word = "yäää\u3000";
  EXPECT_EQ(held_out("alpha beta gamma"), 7u);  // no whole line would be held out
  EXPECT_EQ(held_out(far + " one" + word + far), 3 + 1500 + 1u);
  EXPECT_EQ(held_out("é" + far + "z" + far), 1 + 1500 + 1u);
  EXPECT_EQ(held_out("é" + far + far, "byte"), 1502u);
}

// Of every tokenizer: OddTexts, below.
TEST_F(DatasetTest, BytesAreCountedOnlyWhereTheTokensGiveThemBack) {
  const Dataset indented = [&] {  // the cut is at a line's beginning
    file("a.txt", "one two\none two\n  one two\n");
    return load(text_config({"data.valid_fraction=0.4", "tokenizer.type=word"}));
  }();
  EXPECT_FALSE(indented.train.lossy);
  EXPECT_TRUE(indented.valid.lossy);
  EXPECT_THAT(indented.notes, Contains(HasSubstr("validation data: the tokens do not give back")));
  file("v.txt", "one\n\\n\n");  // after an unknown word there is no telling
  const Sets sets = {"tokenizer.type=word", "tokenizer.file=v.txt", "data.valid_fraction=0"};
  file("a.txt", "two one\n");
  EXPECT_THAT(load(text_config(sets)).notes, Not(Contains(HasSubstr("give back"))));
}

TEST_F(DatasetTest, AReplacedByteIsInNoFigureOfBitsPerByte) {
  const std::string many = "b" + std::string(20'000, 'a');
  file("a.txt", many + "\xFF\n" + many + "\n");
  Dataset d = load(text_config({"data.valid_fraction=0.5"}));
  EXPECT_TRUE(d.train.lossy);
  EXPECT_FALSE(d.valid.lossy);
  EXPECT_THAT(d.warnings, Contains(HasSubstr("1 byte not in UTF-8 and read as U+FFFD")));
  file("a.txt", many + "\n" + many + "\xFF\n");
  d = load(text_config({"data.valid_fraction=0.5"}));
  EXPECT_FALSE(d.train.lossy);
  EXPECT_TRUE(d.valid.lossy);
  file("a.txt", many + "\uFFFD\n" + many + "\uFFFD\n");  // the character itself is text
  EXPECT_FALSE(load(text_config({"data.valid_fraction=0.5"})).train.lossy);
}

TEST_F(DatasetTest, NormalisedTextIsOtherData) {
  file("a.txt", "e\u0301ae\u0301a");
  const Dataset d = load(text_config({"data.normalize=nfc", "data.valid_fraction=0"}));
  EXPECT_EQ(decoded(d.train), "éaéa\n");
  EXPECT_TRUE(d.train.lossy);
  EXPECT_NE(d.hash, load(text_config({"data.valid_fraction=0"})).hash);
  file("b.txt", "é");
  EXPECT_FALSE(load(text_config({"data.valid=b.txt"})).train.lossy);
  file("a.txt", "e\xFF");  // too many bad bytes
  refuses(text_config({"data.normalize=nfc", "tokenizer.type=byte"}), {"UTF-8"});
}

TEST_F(DatasetTest, AVocabularyThatExistsIsTakenForPairs) {
  file("v.txt", "x\ny\n");
  file("a.tsv", "x\ty\nx x\ty y\n");
  load(pairs_config({"tokenizer.type=word", "tokenizer.file=v.txt", "data.valid_fraction=0"}));
  EXPECT_EQ(tokenizers_.target->size(), 5);
}

TEST_F(DatasetTest, ALargeShareOfUnknownWordsIsSaid) {
  std::string text;
  for (int i = 0; i < 97; ++i) text += "known ";
  file("v.txt", "known\nword\n\\n\n");
  const auto loaded = [&](const std::string& more) {
    file("a.txt", text + more);
    return load(
        text_config({"tokenizer.type=word", "tokenizer.file=v.txt", "data.valid_fraction=0"}));
  };
  EXPECT_THAT(loaded("a b").warnings, testing::IsEmpty());  // 2 of 100, with the newline
  const Dataset three = loaded("a b a");
  EXPECT_THAT(three.warnings, ElementsAre("3 % of the training text is unknown to the vocabulary "
                                          "(<unk>): 3 unknown tokens: 'a', 'b'"));
  EXPECT_NO_THROW(refuse_foreign_vocabulary(three, "v"));
  std::string many;
  for (int i = 0; i < 25; ++i) many += "no ";
  const Dataset fifth = loaded(many);
  expect_error([&] { refuse_foreign_vocabulary(fifth, "tokenizer.file v.txt"); }, Exit::data,
               {"v.txt", "20 %", "'no'", "25"});
}

TEST_F(DatasetTest, HeldOutFilesAreWhole) {
  file("a.txt", "aabbccdd\n\n");
  file("b.txt", "ddee");
  const Dataset d = load(text_config({"data.valid=b.txt", "tokenizer.min_frequency=2"}));
  EXPECT_EQ(decoded(d.train), "aabbccdd\n\n");
  EXPECT_EQ(d.valid.target.size(), 5u);
  EXPECT_EQ(d.valid.unknown.count, 2u);
  EXPECT_THAT(d.valid.unknown.kinds, ElementsAre("e"));
  EXPECT_TRUE(d.valid.lossy);
  EXPECT_FALSE(d.train.lossy);
  EXPECT_THAT(d.notes, Contains(HasSubstr("validation data: 2 unknown")));
}

TEST_F(DatasetTest, CharactersOfHeldOutTextAreKnownAfterThoseOfTrainingText) {
  file("a.txt", "bbbaac\n");
  file("b.txt", "ÿzz\n");
  const auto said = HasSubstr("6 of 6 distinct characters, 2 of them only held out");
  const Dataset files = load(text_config({"data.valid=b.txt"}));
  EXPECT_EQ(tokenizers_.target->decode({{3, 4, 5, 6, 7, 8}}), "ba\nczÿ");
  EXPECT_THAT(files.details, Contains(said));
  EXPECT_FALSE(files.valid.lossy);
  file("a.txt", "bbbaac\nÿzz\n");
  const Dataset tail = load(text_config({"data.valid_fraction=0.4"}));
  EXPECT_EQ(tokenizers_.target->decode({{3, 4, 5, 6, 7, 8}}), "ba\nczÿ");
  EXPECT_THAT(tail.details, Contains(said));
  load(text_config({"data.valid_fraction=0.4", "tokenizer.vocab_size=8"}));
  EXPECT_EQ(tokenizers_.target->size(), 8);
}

TEST_F(DatasetTest, TheHashKnowsHeldOutPairsToo) {
  file("a.tsv", "a b\tb a\n");
  file("b.tsv", "a\tb\n");
  const RunConfig pairs = pairs_config({"tokenizer.type=word", "data.valid_pairs=b.tsv"});
  const DataHash first = load(pairs).hash;
  file("b.tsv", "a\ta\n");
  EXPECT_NE(first.all(), load(pairs).hash.all());
}

TEST_F(DatasetTest, LowerCasingIsUnicodesAndLosesBytes) {
  file("a.txt", "ÄbÄbÄbÄbÄb");
  const Dataset d = load(text_config({"data.lowercase=true", "data.valid_fraction=0"}));
  EXPECT_EQ(decoded(d.train), "äbäbäbäbäb\n");
  EXPECT_TRUE(d.train.lossy);
}

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

TEST_F(PairDataset, EachSideKnowsTheCharactersOfItsHeldOutLines) {
  file("a.tsv", "ab\txy\nb\tyz\nc\tx\n");
  for (const std::string held_out : {"data.valid_fraction=0.34", "data.valid_pairs=b.tsv"}) {
    file("b.tsv", "c\tx\n");
    load(pairs_config(
        {"tokenizer.type=char", "tokenizer.shared=false", "model.tie=none", held_out}));
    EXPECT_EQ(tokenizers_.source().size(), 3 + 3);
    EXPECT_EQ(tokenizers_.source().unknown("c").count, 0u);
    EXPECT_EQ(tokenizers_.target->unknown("c").count, 1u);
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

// Texts of odd kinds with every tokenizer: either the tokens give back the text, or heed knows that
// they don't, and counts no bits per byte.

constexpr int kTexts = 500;

std::string odd_text(std::uint64_t seed) {
  static const std::vector<std::string> parts = {
      "word",    "Wörter", ".",      "\"",       "'s",        " ",      "  ",   "\t",
      "\n",      "\r\n",   "\r",     "\u00A0",   "\u2028",    "\u200B", "שלום", "\u202E",
      "e\u0301", "ﬁ",      "İ",      "👍🏽", "天地",      "\uFEFF", "\x01", "\u2581",
      "<unk>",   "[MASK]", "<0x41>", "\uFFFD",   "\U0010FFFF"};
  std::string text;
  std::uint64_t state = seed;
  const int n = 1 + static_cast<int>(hash64(++state * 977 + seed) % 30);
  for (int i = 0; i < n; ++i) text += parts[hash64(seed * 1000 + i) % parts.size()];
  return text;
}

class OddTexts : public DataFolder, public testing::WithParamInterface<const char*> {};

TEST_P(OddTexts, AreGivenBackOrKnownToBeLossy) {
  std::string all;
  for (int i = 0; i < kTexts; ++i) all += odd_text(i) + "\n";
  file("a.txt", all);
  std::vector<std::string> sets = {"data.valid_fraction=0"};
  std::string set;
  for (const char c : std::string(GetParam()) + " ") {
    if (c != ' ') set += c;
    if (c == ' ') sets.push_back(std::exchange(set, ""));
  }
  const RunConfig c = text_config(sets);
  load(c);
  int lossy = 0;
  for (int i = 0; i < kTexts; ++i) {
    if (odd_text(i) == "\uFEFF") continue;  // no text
    file("b.txt", odd_text(i));
    const std::vector<std::string> path = {folder_ + "/b.txt"};
    const Split split = load_text(path, c, tokenizers_);
    const std::string text = read_text(path, {.any_bytes = true});
    lossy += split.lossy;
    EXPECT_TRUE(split.lossy || decoded(split) == text) << i << ": " << text;
  }
  // Only words lose anything, and not always.
  const bool words = c.tokenizer.type == TokenizerConfig::word;
  EXPECT_EQ(lossy > 0, words);
  EXPECT_LT(lossy, kTexts);
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, OddTexts,
                         testing::Values("tokenizer.type=char", "tokenizer.type=byte",
                                         "tokenizer.type=word",
                                         "tokenizer.type=word tokenizer.punctuation=split",
                                         "tokenizer.type=bpe tokenizer.vocab_size=420",
                                         "tokenizer.type=unigram tokenizer.vocab_size=420"));

}  // namespace
}  // namespace heed
