#include "data/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tuple>

#include "data/data_folder.h"

namespace heed {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::string kLong = "a line of more than forty characters, number ";

LineFacts facts(const std::string& text, std::size_t part = std::string::npos) {
  LineFacts f;
  for (std::size_t at = 0; at < text.size(); at += std::min(part, text.size() - at))
    f.add(std::string_view(text).substr(at, part));
  return f;
}

TEST(LineFacts, AreTheSameHoweverTheTextIsCut) {
  const std::string text =
      kLong + "1\n\nshort\n" + kLong + "2\r\n" + std::string(40, '\xC3') + "\n";
  const LineFacts whole = facts(text);
  EXPECT_EQ(whole.hashes.size(), 3u);
  for (const std::size_t part : {1, 7, 50}) EXPECT_EQ(facts(text, part).hashes, whole.hashes);
}

TEST(LineFacts, CountLongLinesThatAreInTheTrainingText) {
  const LineFacts train = facts(kLong + "1\nshort\n" + kLong + "2\n");
  EXPECT_THAT(leaks(train, facts("short\n" + kLong + "2\n" + kLong + "3\n" + kLong + "2\r\n")),
              HasSubstr("2 of 3 held-out lines"));
  EXPECT_EQ(leaks(train, facts("short\n" + kLong + "3\n")), "");
  EXPECT_EQ(common(train, facts("  " + kLong + "1  \r\n\t" + kLong + "2")), 1);
  const std::string wide = "天天天天天天天天天天天天天天\n", almost(39, 'x');  // 42 bytes
  EXPECT_EQ(leaks(facts(wide), facts(wide)), "");
  EXPECT_EQ(leaks(facts(almost + "\n"), facts(almost + "\n")), "");
}

TEST(LineFacts, APairIsKnownIfBothSidesAre) {
  LineFacts train, held_out;
  train.add("a", "x");
  train.add("b", "y");
  held_out.add("a", "y");
  held_out.add("x", "a");
  EXPECT_EQ(leaks(train, held_out), "");
  held_out.add("b ", " y");
  EXPECT_THAT(leaks(train, held_out), HasSubstr("1 of 3 held-out pairs"));
}

class Leaks : public DataFolder {};

TEST_F(Leaks, AreSaidOfEachKindOfHeldOutData) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += kLong + std::to_string(i) + "\n";
  file("a.txt", text + kLong + "3\n" + kLong + "4\n");
  EXPECT_THAT(load(text_config({"data.valid_fraction=0.2"})).warnings,
              Contains(HasSubstr("2 of 2 held-out lines")));
  file("v.txt", kLong + "9\n" + kLong + "10\n");
  EXPECT_THAT(load(text_config({"data.valid=v.txt"})).warnings,
              Contains(HasSubstr("1 of 2 held-out lines")));
  file("v.txt", "a short one\n");
  file("s.txt", "a short one\n");
  EXPECT_THAT(load(text_config({"data.train=s.txt", "data.valid=v.txt"})).warnings,
              Contains(HasSubstr("training data")));
  file("a.tsv", "a b\tx\nc d\ty\ne f\tz\na b\tx\n");
  EXPECT_THAT(load(pairs_config({"tokenizer.type=word", "data.valid_fraction=0.25"})).warnings,
              Contains(HasSubstr("1 of 1 held-out pairs")));
}

TEST_F(Leaks, OccurringTokensAreCounted) {
  file("a.txt", "the old mill and the old miller\nthe mill\n");
  const Dataset d = load(
      text_config({"tokenizer.type=bpe", "tokenizer.vocab_size=280", "data.valid_fraction=0"}));
  const auto counts = counts_of(d.train);
  const auto n = std::ssize(counts) - std::ranges::count(counts, 0);
  EXPECT_THAT(d.notes[0], HasSubstr("; " + std::to_string(n) + " of " +
                                    std::to_string(tokenizers_.target->size()) + " tokens occur"));
}

TEST(Ids, TakeTwoBytesWhereTheVocabularyAllows) {
  for (const auto& [vocab, bytes, largest] :
       {std::tuple{65536, 2, 65535}, std::tuple{65537, 4, 65536}, std::tuple{1000000, 4, 999999}}) {
    Ids ids(vocab);
    ids.push_back(0);
    ids.push_back(largest);
    ids.push_back(7);
    EXPECT_EQ(ids.bytes_per_id(), bytes);
    std::vector<int> out;
    ids.copy(0, 3, out);
    EXPECT_THAT(out, testing::ElementsAre(0, largest, 7));
    ids.truncate(2);
    EXPECT_EQ(ids.size(), 2u);
    EXPECT_EQ(ids[1], largest);
  }
}

}  // namespace
}  // namespace heed
