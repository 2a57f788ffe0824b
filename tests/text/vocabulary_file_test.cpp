#include "text/tokenizer_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <fstream>

#include "base/error_of.h"
#include "base/temporary_folder.h"
#include "text/piece_model.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

using testing::HasSubstr;
using IdList = std::vector<int>;

class VocabularyFile : public testing::Test {
 protected:
  TrainedTokenizer read(Type type, std::string_view bytes, bool mask = false,
                        Punctuation punctuation = Punctuation::keep) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    TokenizerConfig config;
    config.type = type;
    config.punctuation = punctuation;
    return read_vocabulary(
        config, mask ? std::vector<std::string>{"[MASK]"} : std::vector<std::string>{}, path_);
  }
  std::string error(Type type, std::string_view bytes, Exit exit = Exit::data) const {
    return error_of([&] { read(type, bytes); }, exit);
  }
  // A model of the SentencePiece library, by default with its own settings: text is normalised and
  // begins with a space, there are no bytes; <pad> is 0.
  std::string foreign_model(const std::string& type, const std::string& settings = "") const {
    std::ofstream(path_) << training_text();
    std::string bytes;
    const auto status = sentencepiece::SentencePieceTrainer::Train(
        "--input=" + path_ + " --model_type=" + type +
            " --hard_vocab_limit=false --pad_id=0 --eos_id=1 --unk_id=2 --bos_id=-1"
            " --user_defined_symbols=<sep> --minloglevel=3 " +
            settings,
        nullptr, &bytes);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return bytes;
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "v";
};

TEST_F(VocabularyFile, ATokenizerOfARunServesEveryObjective) {
  for (const Type type : {TokenizerConfig::char_, TokenizerConfig::word, TokenizerConfig::bpe,
                          TokenizerConfig::unigram}) {
    const auto without = train(type, training_text());
    const auto with = train(type, training_text(), true);
    for (const auto* from : {&without, &with}) {
      EXPECT_EQ(read(type, (*from)->serialize()).tokenizer->specials(), without->specials());
      EXPECT_EQ(read(type, (*from)->serialize(), true).tokenizer->specials(), with->specials());
    }
    EXPECT_EQ(read(type, without->serialize()).tokenizer->serialize(), without->serialize());
    const std::string text = "the old river";
    EXPECT_EQ(pieces(*read(type, with->serialize()).tokenizer, text), pieces(*with, text));
  }
}

TEST_F(VocabularyFile, AListGivesTheTokensInItsOrder) {
  const auto words =
      read(TokenizerConfig::word, "\xEF\xBB\xBFthe\r\n<unk>\ncat\n\\n\n<s>\n</s>\nsat");
  EXPECT_EQ(words.tokenizer->encode("the cat\nsat on"), (IdList{3, 4, 5, 6, 0}));
  expect_facts(words.note, {"word", "7", path_});
  const auto characters = read(TokenizerConfig::char_, " \né\n\\n\nb\n", true).tokenizer;
  EXPECT_EQ(characters->encode(" éa\nb"), (IdList{4, 5, 0, 6, 7}));
  const auto masked = read(TokenizerConfig::word, "[MASK]\nthe\ncat\n", true).tokenizer;
  EXPECT_EQ(masked->encode("the cat"), (IdList{4, 5}));
  const auto split = read(TokenizerConfig::word, "a\n.\n", false, Punctuation::split).tokenizer;
  EXPECT_EQ(split->encode("a."), (IdList{3, 4}));
}

// The texts of SentencePiece's own pieces; characters without one as bytes.
std::vector<std::string> pieces_of_the_library(const std::string& model, const std::string& line) {
  sentencepiece::SentencePieceProcessor processor;
  EXPECT_TRUE(processor.LoadFromSerializedProto(model).ok());
  std::vector<std::string> texts;
  const auto found = processor.EncodeAsImmutableProto(line);
  for (const auto& piece : found.pieces()) {
    if (static_cast<int>(piece.id()) != processor.unk_id())
      texts.push_back(piece.piece());
    else
      for (const char byte : piece.piece())
        texts.push_back(byte_piece(static_cast<unsigned char>(byte)));
  }
  return texts;
}

TEST_F(VocabularyFile, AForeignModelSplitsAsTheLibraryDoes) {
  const std::vector<std::string> lines = {"The river: ﬁve  spaces\t<sep> and x<sep>y ",
                                          "  the river the",
                                          "Ünïcode e\u0301 ＦＵＬＬ 天地 שלום",
                                          "the\u00A0river\u200B\u3000a",
                                          "",
                                          "   ",
                                          "👍🏽 the"};
  const std::vector<std::string> settings = {
      "",
      "--normalization_rule_name=nfkc",
      "--normalization_rule_name=nmt_nfkc_cf",
      "--normalization_rule_name=identity",
      "--normalization_rule_name=identity --add_dummy_prefix=false "
      "--remove_extra_whitespaces=false",
      "--split_by_whitespace=false",
      "--byte_fallback=true"};
  for (const Type type : {TokenizerConfig::bpe, TokenizerConfig::unigram})
    for (const std::string& setting : settings) {
      const std::string model = foreign_model(std::string(type_name(type)), setting);
      const TrainedTokenizer t = read(type, model, true);
      EXPECT_EQ(t.tokenizer->specials()[3], "[MASK]");
      expect_facts(t.note, {path_});
      const auto loaded = load_tokenizer(kTokenizerModel, t.tokenizer->serialize(), "p");
      for (const std::string& line : lines) {
        EXPECT_EQ(pieces(*t.tokenizer, line), pieces_of_the_library(model, line))
            << type_name(type) << setting;
        EXPECT_EQ(loaded->encode(line), t.tokenizer->encode(line));
      }
      const std::vector<int> two = t.tokenizer->encode("the river\nthe");
      EXPECT_EQ(t.tokenizer->decode(two), "the river\nthe");
    }
}

TEST_F(VocabularyFile, NormalisersThatAreNotTheLibrarysAreRefused) {
  std::ofstream(folder_.path() / "rules") << "61\t62\n";
  const std::string rules = (folder_.path() / "rules").string();
  expect_facts(error(TokenizerConfig::unigram,
                     foreign_model("unigram", "--normalization_rule_tsv=" + rules)),
               {path_, "user_defined", "nmt_nfkc"});
  expect_facts(
      error(TokenizerConfig::bpe, foreign_model("bpe", "--treat_whitespace_as_suffix=true")),
      {path_});
  // A known name with another table, or none.
  std::string model = foreign_model("unigram");
  const std::size_t name = model.find("nmt_nfkc");
  expect_facts(error(TokenizerConfig::unigram, std::string(model).replace(name, 8, "unknown_")),
               {"unknown_"});
  expect_facts(error(TokenizerConfig::unigram, std::string(model).replace(name, 8, "identity")),
               {"identity"});
}

TEST_F(VocabularyFile, IsWhatTheConfigSays) {
  const std::string bpe = train(TokenizerConfig::bpe, training_text())->serialize();
  const std::string word = train(TokenizerConfig::word, training_text())->serialize();
  const auto usage = [&](Type type, const std::string& bytes) {
    return error(type, bytes, Exit::usage);
  };
  expect_facts(usage(TokenizerConfig::unigram, bpe),
               {"tokenizer.type", "unigram", "bpe", "--set tokenizer.type=bpe"});
  expect_facts(usage(TokenizerConfig::word, bpe), {path_, "word", "bpe"});
  expect_facts(usage(TokenizerConfig::bpe, word), {path_, "bpe", "word"});
  expect_facts(usage(TokenizerConfig::bpe, "the\ncat\n"), {path_, "tokenizer.type", "bpe"});
  const auto split = [&] { read(TokenizerConfig::word, word, false, Punctuation::split); };
  expect_error(split, Exit::usage, {"tokenizer.punctuation", "split"});
}

TEST_F(VocabularyFile, WhatIsNoVocabularyIsNamed) {
  const std::string model = train(TokenizerConfig::bpe, training_text())->serialize();
  for (const auto& [type, bytes, facts] : std::vector<std::tuple<Type, std::string, Facts>>{
           {TokenizerConfig::word, "", {"tokens"}},
           {TokenizerConfig::word, "a\n\nb", {}},
           {TokenizerConfig::word, "a b", {"a b"}},
           {TokenizerConfig::word, R"({"the":0,"cat":1})", {"JSON"}},
           {TokenizerConfig::bpe, R"({"model":{"type":"BPE","vocab":{"a":0}}})", {"JSON"}},
           {TokenizerConfig::word, "x\n{\"a\":" + std::string(500'000, 'x') + " }", {"...\""}},
           {TokenizerConfig::char_, "ab", {"ab"}},
           {TokenizerConfig::char_, "\xFF", {"UTF-8"}},
           {TokenizerConfig::word, R"({"format":"heed-tokenizer"})", {"version"}},
           {TokenizerConfig::bpe, model.substr(0, model.size() / 2), {"SentencePiece"}}}) {
    expect_facts(error(type, bytes), {path_});
    expect_facts(error(type, bytes), facts);
    EXPECT_THAT(error(type, bytes), testing::Not(HasSubstr("checkpoint")));
    EXPECT_LT(error(type, bytes).size(), 400u);
  }
  TokenizerConfig config;
  expect_error([&] { read_vocabulary(config, {}, "no/such"); }, Exit::data, {"no/such"});
}

}  // namespace
}  // namespace heed
