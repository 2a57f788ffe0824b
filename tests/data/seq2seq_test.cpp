#include "data/seq2seq.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "data/splits.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

TEST(Seq2Seq, NeverWritesWhatWouldEndALine) {
  const std::string text = "one two\nthree four\r\nfive one two\n";
  for (const Type type : {TokenizerConfig::char_, TokenizerConfig::byte, TokenizerConfig::word,
                          TokenizerConfig::bpe, TokenizerConfig::unigram}) {
    const auto tokenizer = train(type, text);
    const TokenIds banned = Seq2Seq(pairs_config()).never_written(*tokenizer);
    EXPECT_GE(banned.size(), 3u) << type;
    for (int id = 0; id < tokenizer->size(); ++id) {
      const std::string written = tokenizer->decode(std::array{id});
      const bool ends = written.find_first_of("\n\r") != std::string::npos;
      EXPECT_EQ(std::count(banned.begin(), banned.end(), id),
                ends || id == Tokenizer::kUnk || id == Tokenizer::kBos)
          << type << " " << id;
    }
  }
}

}  // namespace
}  // namespace heed
