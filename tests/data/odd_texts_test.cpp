// Texts of odd kinds with every tokenizer: either the tokens give back the text, or heed knows that
// they don't, and counts no bits per byte.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/noise.h"
#include "data/corpus.h"
#include "data/data_folder.h"

namespace heed {
namespace {

constexpr int kTexts = 500;

std::string odd_text(std::uint64_t seed) {
  static const std::vector<std::string> parts = {"word",     "Wörter",
                                                 "a",        ".",
                                                 ",",        "\"",
                                                 "(",        "'s",
                                                 " ",        "  ",
                                                 "\t",       "\n",
                                                 "\n\n",     "\r\n",
                                                 "\r",       "\u00A0",
                                                 "\u3000",   "\u2028",
                                                 "\u0085",   "\u200B",
                                                 "\u200F",   "שלום",
                                                 "مرحبا",    "\u202E",
                                                 "e\u0301",  "\u0323\u0301",
                                                 "ﬁ",        "Å",
                                                 "İ",        "ς",
                                                 "👍🏽", "👩‍👩‍👧",
                                                 "天地",     "한글",
                                                 "\uFEFF",   "\x01",
                                                 "\x1B[0m",  "\x7F",
                                                 "\u2581",   "▁word",
                                                 "<unk>",    "</s>",
                                                 "[MASK]",   "<0x41>",
                                                 "\uFFFD",   "\U0010FFFF"};
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
